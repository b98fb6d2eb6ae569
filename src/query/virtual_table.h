#pragma once

#include "base/status.h"
#include "query/catalog.h"

struct sqlite3;

namespace steplens::query {

// Makes the tables of the catalog known to a connection, under their names and read-only. They are
// there without being created: SQLite asks for a table when a statement names it. `is_declaring` is
// true while columns are declared, which an authorizer sees as writing and must let pass. The
// catalog and the flag must outlive the connection.
Status RegisterTables(sqlite3* db, const Catalog& catalog, bool& is_declaring);

// Puts the registered tables into sqlite_master, where people look for them. The flag is as above.
Status ListTables(sqlite3* db, const Catalog& catalog, bool& is_declaring);

}  // namespace steplens::query
