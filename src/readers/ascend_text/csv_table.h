#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/ascend_text/csv_rows.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Whether its absence is worth telling: a file of every generation has a required column.
enum class Need : uint8_t { kRequired, kOptional };

// Types the rows of a csv file into columns of the store. First bind columns, by any of their
// names, then read:
//
//   table.Text({"Name", "Op Name"}, kernels.name);
//   table.Us({"Start Time(us)", "Task Start Time(us)"}, kernels.begin_ns);
//   return table.ReadInto(kernels);
//
// An empty cell and 'N/A' are not known; so is a cell that is not a number, which is counted.
class CsvTable {
 public:
  using Names = std::initializer_list<std::string_view>;
  using Texts = store::Column<StringId>;
  using Ints = store::Column<int64_t>;
  using Numbers = store::Column<double>;

  CsvTable(CsvRows rows, store::TraceStore& out) : rows_(std::move(rows)), out_(out) {}

  void Text(Names names, Texts& to, Need need = Need::kRequired);
  // Without the quotes around the cell.
  void Shapes(Names names, Texts& to, Need need = Need::kRequired);
  // Without the line breaks after each ';'.
  void Lines(Names names, Texts& to, Need need = Need::kRequired);
  void Int(Names names, Ints& to, Need need = Need::kRequired);
  void Us(Names names, Ints& to_ns, Need need = Need::kRequired);
  // 0 for a negative one, which is counted.
  void DurationUs(Names names, Ints& to_ns, Need need = Need::kRequired);
  // From the unit that ends the name found, "(KB)" or "(MB)", of `kb_per_mb` KB.
  void Bytes(Names names, Ints& to, Need need = Need::kRequired, double kb_per_mb = 1024);
  void Number(Names names, Numbers& to, Need need = Need::kRequired);
  // Every column that is not bound yet, under its own name; `metrics` has `rows_before` rows
  // already. The first value of a column decides whether it holds numbers or texts.
  void Metrics(std::vector<store::DynamicColumn>& metrics, size_t rows_before);

  const std::vector<std::string>& header() const { return rows_.header(); }
  // For columns that a generation writes all or none of: required if the header has any of them.
  Need AllOrNone(Names names) const;

  // Reads all rows; columns of `table` that are not bound are filled up with "not known". The table
  // is sound after an error, too. An error if none of the names asked for was found.
  template <typename Table>
  Status ReadInto(Table& table) {
    const size_t rows_before = table.size();
    Status status = ReadRows();
    const size_t rows = rows_before + rows_read_;
    table.ForEachColumn([&](auto, auto, auto& column) { FillUp(column, rows); });
    if (metrics_ != nullptr) {
      for (store::DynamicColumn& metric : *metrics_) FillUp(metric, rows);
    }
    return status;
  }

 private:
  // Reads the cells of one column of the batch.
  struct Binding {
    size_t column = 0;
    std::function<void(CsvTable&)> read;
  };

  // A column that is none of the known ones.
  struct Metric {
    store::DynamicColumn* to = nullptr;
    bool holds_numbers = false;  // a number was met first: a text is an error
    bool holds_texts = false;    // a text was met first
  };

  template <typename T>
  static void FillUp(store::Column<T>& column, size_t rows) {
    if (column.size() < rows) column.AppendUnknown(rows - column.size());
  }
  static void FillUp(store::DynamicColumn& column, size_t rows) {
    column.is_text() ? FillUp(column.texts, rows) : FillUp(column.numbers, rows);
  }

  std::optional<size_t> Find(Names names, Need need);
  void Bind(size_t column, std::function<void(CsvTable&)> read);
  template <typename Transform>
  void BindTexts(Names names, Texts& to, Need need, Transform transform);
  template <typename Parse>
  void BindInts(Names names, Ints& to, Need need, Parse parse);

  Status ReadRows();
  template <typename Transform>
  void ReadTexts(size_t column, Texts& to, Transform transform);
  template <typename Parse>
  void ReadInts(size_t column, Ints& to, Parse parse);
  void ReadNumbers(size_t column, Numbers& to);
  void ReadMetric(size_t column, Metric& metric);
  size_t ReadMetricNumbers(size_t column, Metric& metric);
  template <typename T>
  void ReserveAhead(store::Column<T>& column) {
    if (rows_ahead_ > 0) column.Reserve(column.size() + rows_ahead_);
  }

  StringId Intern(size_t column, size_t row, std::string_view text);
  // In the rows of the batch, which begin at `first` of `durs_ns`.
  void ReplaceNegative(size_t column, Ints& durs_ns, size_t first);
  void CountNotANumber(size_t column, size_t row);

  CsvRows rows_;
  store::TraceStore& out_;
  std::vector<Binding> bindings_;
  bool has_expected_column_ = false;
  std::vector<store::DynamicColumn>* metrics_ = nullptr;
  size_t rows_read_ = 0;
  size_t rows_ahead_ = 0;  // rows to make room for; set while one batch is read
  std::string scratch_;
  // In front of the pool: the text met last in each slot. Texts repeat after a few rows.
  std::array<StringId, 1024> recent_{};
};

}  // namespace steplens::readers
