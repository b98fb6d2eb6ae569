#include "base/sqlite_setup.h"

#include <sqlite3.h>

namespace steplens {

void SetUpSqlite() {
  // SQLite counts its memory under one lock of the process, which threads that read different files
  // would pass each other with every piece of memory. Nobody asks for the count.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

}  // namespace steplens
