#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "table/table.h"

namespace steplens::table {

// Writes the tables as a new SQLite file, which replaces an old one at once when it is complete.
// Columns have the names and values of SqlColumnName; empty numeric cells are NULL.
Status WriteSqlite(std::span<const Table> tables, const std::string& path);

// Puts the tables into an SQLite file, beside what else it has: tables of the same names are
// replaced, and the file is created if there is none. The old file stays until the new one is
// complete. Tables without columns are only removed.
// Indexes of tables that are not among them are left out.
struct SqlIndex {
  std::string table;
  std::vector<std::string> columns;
};
Status UpdateSqlite(std::span<const Table* const> tables, const std::string& path,
                    std::span<const SqlIndex> indexes = {});

// A name as an SQL identifier: quoted, so that every header will do.
std::string QuoteSqlName(std::string_view name);

// The column's name in SQL, where times are integer nanoseconds: "Duration(us)" -> "Duration(ns)",
// "Free" (a time) -> "Free(ns)". Other columns keep their header.
std::string SqlColumnName(const Column& column);

}  // namespace steplens::table
