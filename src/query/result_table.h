#pragma once

#include <cstddef>

#include "base/status.h"
#include "query/database.h"
#include "table/table.h"

struct sqlite3_stmt;

namespace steplens::query {

// Steps a prepared statement to its end and collects the rows. The type of a column follows from
// its values; numbers that stand beside texts become texts. Columns with equal names are numbered.
// An error of SQLite is left on the connection: `rc` is its code, SQLITE_DONE if there was none or
// if `max_rows` were read.
struct StatementResult {
  table::Table table;
  int rc;
  bool too_large = false;  // stopped at `max_bytes`
};
StatementResult CollectRows(sqlite3_stmt* statement, size_t max_bytes, size_t max_rows);

// Steps a prepared statement to its end and hands each row on. `rc` as above; `status` is what the
// sink said last.
struct StreamResult {
  Status status;
  int rc;
};
StreamResult StreamRows(sqlite3_stmt* statement, RowSink& sink, size_t max_rows);

}  // namespace steplens::query
