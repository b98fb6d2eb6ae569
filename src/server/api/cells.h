#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/text/message.h"
#include "base/json_writer.h"
#include "table/table.h"

namespace steplens::server {

// Long loops ask IsCancelled() before every so many rows.
inline constexpr size_t kRowsAtOnce = 4096;

// "int", "time_us", "double" or "text".
std::string_view TypeName(table::CellType type);
// {"name","type","decimals"} of a column.
void WriteColumn(JsonWriter& json, const table::Column& column);
// A cell: microseconds with three decimals for times, null for empty ones.
void WriteCell(JsonWriter& json, const table::Column& column, size_t row);
// "columns":[...],"rows":[[...]] with at most `limit` rows.
void WriteTable(JsonWriter& json, const table::Table& table, size_t limit);
// "tables":{name:{...}},"definition","query","warnings":[...] of a named result.
void WriteAnswer(JsonWriter& json, const std::vector<table::Table>& tables,
                 std::string_view definition, std::string_view query,
                 const std::vector<analysis::Message>& warnings);

}  // namespace steplens::server
