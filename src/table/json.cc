#include "table/json.h"

#include "base/json_writer.h"
#include "base/number.h"

namespace steplens::table {
namespace {

// "12.340" -> "12.34", "5.000" -> "5".
std::string_view TrimZeros(std::string_view decimal) {
  while (decimal.back() == '0') decimal.remove_suffix(1);
  if (decimal.back() == '.') decimal.remove_suffix(1);
  return decimal;
}

void WriteCell(JsonWriter& out, const Column& column, size_t row) {
  switch (column.type) {
    case CellType::kText:
      out.String(column.texts[row]);
      return;
    case CellType::kDouble:
      out.Double(column.doubles[row]);
      return;
    case CellType::kInt:
    case CellType::kTimeUs:
      break;
  }
  const int64_t value = column.ints[row];
  if (value == kNull) {
    out.Null();
  } else if (column.type == CellType::kInt) {
    out.Int(value);
  } else {
    out.Raw(TrimZeros(FormatNsAsUs(value)));
  }
}

void AppendRows(std::string& out, const Table& table) {
  out += '[';
  for (size_t row = 0; row < table.rows(); ++row) {
    out += row == 0 ? "\n" : ",\n";
    JsonWriter object;
    object.BeginObject();
    for (const Column& column : table.columns()) {
      object.Key(column.name);
      WriteCell(object, column, row);
    }
    object.EndObject();
    out += object.text();
  }
  out += "\n]";
}

}  // namespace

std::string ToJson(const Table& table) {
  std::string out;
  AppendRows(out, table);
  out += '\n';
  return out;
}

std::string ToJson(std::span<const Table> tables) {
  std::string out = "{";
  for (size_t i = 0; i < tables.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    AppendJsonString(out, tables[i].name());
    out += ": ";
    AppendRows(out, tables[i]);
  }
  out += "\n}\n";
  return out;
}

}  // namespace steplens::table
