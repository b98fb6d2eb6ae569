#pragma once

#include <memory>
#include <string>

#include "base/file.h"
#include "base/status.h"

struct sqlite3;

namespace steplens {

struct SqliteCloser {
  void operator()(sqlite3* db) const;
};
using SqliteConnection = std::unique_ptr<sqlite3, SqliteCloser>;

// Opens the database that is, or will be, in a file that has no name yet. SQLite opens by name
// only, and whatever has a name stays when the process is killed. The file must outlive the
// connection, is not locked and has no journal: it is thrown away if anything fails. Triggers and
// other code of its schema do not run. For one thread at a time.
Result<SqliteConnection> OpenSqliteOn(const AtomicFile& file);

// Puts the bytes of a database into a new file. It must be closed: nothing of it in a -wal or
// -journal file.
Status CopySqlite(const std::string& source, AtomicFile& file);

}  // namespace steplens
