#include "server/api/cells.h"

#include <algorithm>

#include "base/cancel.h"
#include "base/number.h"
#include "server/api/message.h"

namespace steplens::server {
std::string_view TypeName(table::CellType type) {
  switch (type) {
    case table::CellType::kInt:
      return "int";
    case table::CellType::kTimeUs:
      return "time_us";
    case table::CellType::kDouble:
      return "double";
    case table::CellType::kText:
      return "text";
  }
  return "";
}

void WriteColumn(JsonWriter& json, const table::Column& column) {
  json.BeginObject().Key("name").String(column.name).Key("type").String(TypeName(column.type));
  if (column.type == table::CellType::kDouble) json.Key("decimals").Int(column.decimals);
  json.EndObject();
}

void WriteCell(JsonWriter& json, const table::Column& column, size_t row) {
  switch (column.type) {
    case table::CellType::kText:
      json.String(column.texts[row]);
      return;
    case table::CellType::kDouble:
      json.Double(column.doubles[row]);
      return;
    case table::CellType::kInt:
    case table::CellType::kTimeUs:
      break;
  }
  if (column.ints[row] == table::kNull) {
    json.Null();
  } else if (column.type == table::CellType::kInt) {
    json.Int(column.ints[row]);
  } else {
    json.Raw(FormatNsAsUs(column.ints[row]));
  }
}

void WriteTable(JsonWriter& json, const table::Table& table, size_t limit) {
  json.Key("columns").BeginArray();
  for (const table::Column& column : table.columns()) WriteColumn(json, column);
  json.EndArray().Key("rows").BeginArray();
  for (size_t row = 0; row < std::min(table.rows(), limit); ++row) {
    if (row % kRowsAtOnce == 0 && IsCancelled()) break;  // the client has disconnected
    json.BeginArray();
    for (const table::Column& column : table.columns()) WriteCell(json, column, row);
    json.EndArray();
  }
  json.EndArray();
}

void WriteAnswer(JsonWriter& json, const std::vector<table::Table>& tables,
                 std::string_view definition, std::string_view query,
                 const std::vector<analysis::Message>& warnings) {
  json.Key("tables").BeginObject();
  for (const table::Table& table : tables) {
    json.Key(table.name()).BeginObject();
    WriteTable(json, table, SIZE_MAX);
    json.EndObject();
  }
  json.EndObject().Key("definition").String(definition);
  json.Key("query").String(query).Key("warnings").BeginArray();
  for (const analysis::Message& warning : warnings) {
    json.BeginObject();
    WriteMessage(json, warning);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace steplens::server
