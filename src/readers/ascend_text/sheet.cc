#include "readers/ascend_text/sheet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "base/utf8.h"
#include "readers/ascend_text/csv_rows.h"
#include "readers/ascend_text/number_cell.h"

namespace steplens::readers {
namespace {

// What the cells of a column that are not missing hold.
struct CellCounts {
  uint64_t numbers = 0;
  uint64_t texts = 0;
  bool has_average = false;  // ids of memory stacks and the like, with a row for all of them
};

// Whether each column holds numbers, which only the end of the file can tell: it is read twice. A
// few texts among many numbers are damage.
Result<std::vector<bool>> FindNumberColumns(const TextInput& input, const ReadOptions& options) {
  ReadOptions silent = options;
  silent.progress = nullptr;
  store::IssueLog counted_when_read;
  SL_ASSIGN_OR_RETURN(CsvRows rows, CsvRows::Open(input, silent, counted_when_read));
  std::vector<CellCounts> counts(rows.header().size());
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_rows, rows.NextBatch());
    if (!has_rows) break;
    for (size_t column = 0; column < counts.size(); ++column) {
      rows.ForEachCell(column, [&](size_t, std::string_view cell) {
        if (IsMissing(cell)) return;
        if (cell == "Average") counts[column].has_average = true;
        ++(std::isnan(ParseNumberCell(cell)) ? counts[column].texts : counts[column].numbers);
      });
    }
  }
  std::vector<bool> is_number;
  is_number.reserve(counts.size());
  for (const CellCounts& count : counts)
    is_number.push_back(count.texts == 0 || (count.numbers > count.texts && !count.has_average));
  return is_number;
}

void AppendNumbers(CsvRows& rows, size_t column, store::Column<double>& to) {
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::string_view cell = rows.cell(row, column);
    const double value = ParseNumberCell(cell);
    to.Append(value);
    if (!std::isnan(value) || IsMissing(cell)) continue;
    rows.AddIssue(store::IssueKind::kCsvCellNotANumber, row,
                  fmt::format("column '{}' is not a number", rows.header()[column]), cell);
  }
}

void AppendTexts(const CsvRows& rows, size_t column, StringPool& strings,
                 store::Column<StringId>& to) {
  for (size_t row = 0; row < rows.size(); ++row) to.Append(strings.Intern(rows.cell(row, column)));
}

// UTF-8 without control characters.
bool IsText(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0 || static_cast<unsigned char>(text.front()) < ' ') return false;
    text.remove_prefix(length);
  }
  return true;
}

// The first line must be one of column names: for files of tasks, with the name of the operator
// and, else it is counted, the task; for others, text.
Status CheckHeader(CsvRows& rows, const std::string& name) {
  const bool has_ops = name == "l2_cache" || name == "soc_pmu";
  if (has_ops && !rows.FindColumn("Op Name")) {
    return Error{ErrorCode::kCorruptData,
                 fmt::format("{}: no column 'Op Name' in the first line, which is: {}", rows.path(),
                             fmt::join(rows.header(), ","))};
  }
  for (const std::string_view column : {"Stream Id", "Task Id"}) {
    if (!has_ops || rows.FindColumn(column)) continue;
    rows.issues().Add(store::IssueKind::kCsvColumnMissing,
                      fmt::format("{}: no column '{}'", rows.base_name(), column));
  }
  for (const std::string& column : rows.header()) {
    if (IsText(column)) continue;
    return Error{ErrorCode::kCorruptData,
                 fmt::format("{}: a line of column names was expected first", rows.path())};
  }
  return {};
}

}  // namespace

Status ReadSheet(const TextInput& input, const std::string& name, const ReadOptions& options,
                 store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(std::vector<bool> is_number, FindNumberColumns(input, options));
  SL_ASSIGN_OR_RETURN(CsvRows rows, CsvRows::Open(input, options, out.issues));
  SL_RETURN_IF_ERROR(CheckHeader(rows, name));
  is_number.resize(rows.header().size());  // the file may have changed in between
  store::DynamicTable& sheet = out.sheets.emplace_back();
  sheet.name = name;
  for (const std::string& column : rows.header()) sheet.columns.emplace_back().name = column;
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_rows, rows.NextBatch());
    if (!has_rows) return {};
    for (size_t i = 0; i < sheet.columns.size(); ++i) {
      store::DynamicColumn& column = sheet.columns[i];
      is_number[i] ? AppendNumbers(rows, i, column.numbers)
                   : AppendTexts(rows, i, out.strings, column.texts);
    }
  }
}

}  // namespace steplens::readers
