#include "readers/ascend_text/sheet.h"

#include <cmath>
#include <vector>

#include "readers/ascend_text/csv_rows.h"
#include "readers/ascend_text/number_cell.h"

namespace steplens::readers {
namespace {

// Whether each column holds numbers, which only the end of the file can tell: it is read twice.
Result<std::vector<bool>> FindNumberColumns(const TextInput& input, const ReadOptions& options) {
  ReadOptions silent = options;
  silent.progress = nullptr;
  store::IssueLog counted_when_read;
  SL_ASSIGN_OR_RETURN(CsvRows rows, CsvRows::Open(input, silent, counted_when_read));
  std::vector<bool> is_number(rows.header().size(), true);
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_rows, rows.NextBatch());
    if (!has_rows) return is_number;
    for (size_t column = 0; column < is_number.size(); ++column) {
      for (size_t row = 0; row < rows.size() && is_number[column]; ++row) {
        const std::string_view cell = rows.cell(row, column);
        is_number[column] = IsMissing(cell) || !std::isnan(ParseNumberCell(cell));
      }
    }
  }
}

void AppendNumbers(const CsvRows& rows, size_t column, store::Column<double>& to) {
  for (size_t row = 0; row < rows.size(); ++row) to.Append(ParseNumberCell(rows.cell(row, column)));
}

void AppendTexts(const CsvRows& rows, size_t column, StringPool& strings,
                 store::Column<StringId>& to) {
  for (size_t row = 0; row < rows.size(); ++row) to.Append(strings.Intern(rows.cell(row, column)));
}

}  // namespace

Status ReadSheet(const TextInput& input, const std::string& name, const ReadOptions& options,
                 store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(std::vector<bool> is_number, FindNumberColumns(input, options));
  SL_ASSIGN_OR_RETURN(CsvRows rows, CsvRows::Open(input, options, out.issues));
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
