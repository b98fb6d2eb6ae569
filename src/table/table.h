#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace steplens::table {

enum class CellType : uint8_t {
  kInt,     // int64
  kTimeUs,  // int64 nanoseconds, shown as microseconds with three decimals, exactly
  kDouble,  // double, shown with `decimals` digits in the console and shortest-exact elsewhere
  kText,
};

// The cell that is shown as empty (console, csv) or null (json), in int and time columns. In double
// columns it is NaN.
inline constexpr int64_t kNull = std::numeric_limits<int64_t>::min();

// One typed column. Only the vector of its type is filled.
struct Column {
  std::string name;  // header, with the unit where there is one: "Duration(us)"
  CellType type = CellType::kInt;
  int decimals = 3;       // console and html only
  bool is_share = false;  // the console may draw it as bars
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  std::vector<std::string> texts;

  size_t size() const;
};

// A result: named columns of equal length. Rows are in the order the analysis wants them shown.
class Table {
 public:
  explicit Table(std::string name) : name_(std::move(name)) {}

  // Adds an empty column and returns its index, for the typed Append calls below.
  size_t AddColumn(std::string name, CellType type, int decimals = 3);
  size_t AddColumn(Column column);  // a complete one
  void AppendInt(size_t column, int64_t value) {
    columns_[column].ints.push_back(value);
  }  // kInt and kTimeUs
  void AppendDouble(size_t column, double value) { columns_[column].doubles.push_back(value); }
  void AppendText(size_t column, std::string_view value) {
    columns_[column].texts.emplace_back(value);
  }

  // Says that a numeric column shows how a whole divides: ToConsole may draw bars beside it.
  void MarkShare(size_t column) { columns_[column].is_share = true; }

  const std::string& name() const { return name_; }
  const std::vector<Column>& columns() const { return columns_; }
  const Column* Find(std::string_view column_name) const;
  size_t rows() const { return columns_.empty() ? 0 : columns_.front().size(); }
  // Keeps the first `count` rows.
  void Truncate(size_t count);

 private:
  std::string name_;
  std::vector<Column> columns_;
};

// One cell as text, without quoting: the console and csv form ("12.340", "", "aten::add").
std::string CellText(const Column& column, size_t row);

}  // namespace steplens::table
