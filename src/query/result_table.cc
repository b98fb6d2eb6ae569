#include "query/result_table.h"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/number.h"
#include "query/unique_names.h"

namespace steplens::query {
namespace {

using table::CellType;

// How many decimals show every value as it is, at least one.
int DecimalsNeeded(const std::vector<double>& values) {
  constexpr int kMost = 17;
  int most = 1;
  for (const double value : values) {
    if (!std::isfinite(value) || most == kMost) continue;
    char text[400];  // a double has up to 309 digits before the point
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
    const auto* point =
        std::find(static_cast<const char*>(text), static_cast<const char*>(end), '.');
    if (point != end) most = std::clamp(static_cast<int>(end - point) - 1, most, kMost);
  }
  return most;
}

// A result column that widens from int to double to text as values come.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(std::string name) { column_.name = std::move(name); }

  // Adds the cell of the current row and returns the memory it takes, roughly.
  size_t Append(sqlite3_stmt* statement, int i) {
    switch (sqlite3_column_type(statement, i)) {
      case SQLITE_NULL:
        AppendNull();
        break;
      case SQLITE_INTEGER:
        AppendInt(sqlite3_column_int64(statement, i));
        break;
      case SQLITE_FLOAT:
        AppendDouble(sqlite3_column_double(statement, i));
        break;
      default:
        AppendText(statement, i);
    }
    if (column_.type != CellType::kText) return sizeof(int64_t);
    return sizeof(std::string) + column_.texts.back().size();
  }

  table::Column Take() {
    column_.decimals = DecimalsNeeded(column_.doubles);
    return std::move(column_);
  }

 private:
  void AppendNull() {
    switch (column_.type) {
      case CellType::kDouble:
        column_.doubles.push_back(std::numeric_limits<double>::quiet_NaN());
        break;
      case CellType::kText:
        column_.texts.emplace_back();
        break;
      default:
        column_.ints.push_back(table::kNull);
    }
  }

  void AppendInt(int64_t value) {
    switch (column_.type) {
      case CellType::kDouble:
        column_.doubles.push_back(static_cast<double>(value));
        break;
      case CellType::kText:
        column_.texts.push_back(std::to_string(value));
        break;
      default:
        column_.ints.push_back(value);
    }
  }

  void AppendDouble(double value) {
    if (column_.type == CellType::kInt) WidenToDouble();
    if (column_.type == CellType::kDouble) {
      column_.doubles.push_back(value);
    } else {
      column_.texts.push_back(FormatDouble(value));
    }
  }

  void AppendText(sqlite3_stmt* statement, int i) {
    if (column_.type != CellType::kText) WidenToText();
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, i));
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, i));
    column_.texts.emplace_back(bytes != nullptr ? bytes : "", size);
  }

  void WidenToDouble() {
    for (const int64_t value : column_.ints) {
      column_.doubles.push_back(value == table::kNull ? std::numeric_limits<double>::quiet_NaN()
                                                      : static_cast<double>(value));
    }
    column_.ints = {};
    column_.type = CellType::kDouble;
  }

  void WidenToText() {
    const size_t rows = column_.size();
    for (size_t row = 0; row < rows; ++row) {
      column_.texts.push_back(table::CellText(column_, row));
    }
    column_.ints = {};
    column_.doubles = {};
    column_.type = CellType::kText;
  }

  table::Column column_;
};

// The names of the columns, equal ones numbered.
std::vector<std::string> ColumnNames(sqlite3_stmt* statement) {
  std::vector<std::string> names;
  UniqueNames unique;
  const int count = sqlite3_column_count(statement);
  names.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) names.push_back(unique.Add(sqlite3_column_name(statement, i)));
  return names;
}

Cell CellOf(sqlite3_stmt* statement, int i) {
  switch (sqlite3_column_type(statement, i)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return {.kind = Cell::Kind::kInt, .integer = sqlite3_column_int64(statement, i)};
    case SQLITE_FLOAT:
      return {.kind = Cell::Kind::kDouble, .real = sqlite3_column_double(statement, i)};
    default:
      break;
  }
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, i));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, i));
  return {.kind = Cell::Kind::kText, .text = {bytes != nullptr ? bytes : "", size}};
}

}  // namespace

StreamResult StreamRows(sqlite3_stmt* statement, RowSink& sink, size_t max_rows) {
  const std::vector<std::string> names = ColumnNames(statement);
  std::vector<Cell> cells(names.size());
  // Named only now: a statement that fails at its first row leaves nothing behind.
  int rc = sqlite3_step(statement);
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) return {{}, rc};
  Status status = sink.Begin(names);
  for (size_t rows = 0; status.ok() && rc == SQLITE_ROW && rows < max_rows; ++rows) {
    for (size_t i = 0; i < cells.size(); ++i) cells[i] = CellOf(statement, static_cast<int>(i));
    status = sink.Row(cells);
    if (status.ok()) rc = sqlite3_step(statement);
  }
  return {std::move(status), rc == SQLITE_ROW ? SQLITE_DONE : rc};
}

StatementResult CollectRows(sqlite3_stmt* statement, size_t max_bytes, size_t max_rows) {
  StatementResult result{table::Table("query"), SQLITE_OK};
  std::vector<ColumnBuilder> columns;
  for (std::string& name : ColumnNames(statement)) columns.emplace_back(std::move(name));
  const int count = static_cast<int>(columns.size());
  size_t bytes = 0;
  size_t rows = 0;
  while ((result.rc = sqlite3_step(statement)) == SQLITE_ROW) {
    for (int i = 0; i < count; ++i) bytes += columns[static_cast<size_t>(i)].Append(statement, i);
    result.too_large = bytes > max_bytes;
    if (result.too_large) break;
    if (++rows >= max_rows) {
      result.rc = SQLITE_DONE;
      break;
    }
  }
  for (ColumnBuilder& column : columns) result.table.AddColumn(column.Take());
  return result;
}

}  // namespace steplens::query
