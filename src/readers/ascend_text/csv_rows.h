#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/literal.h"
#include "readers/ascend_text/text_input.h"
#include "readers/read_options.h"
#include "store/issues.h"

namespace steplens::readers {

// How a cell says that its value is not known.
inline bool IsMissing(std::string_view cell) { return cell.empty() || EqualsLiteral(cell, "N/A"); }

// Front to back through a csv file with a header, in batches of rows so that a column can be typed
// in one go. Only rows that have a cell for each column of the header are given; others are counted
// in `issues`, which must outlive this.
class CsvRows {
 public:
  // Few enough that the cells of a batch, which are read column by column, stay in the first cache.
  static constexpr size_t kBatchRows = 32;

  // Opens the file and reads the header. An error if there is none.
  static Result<CsvRows> Open(const TextInput& input, const ReadOptions& options,
                              store::IssueLog& issues);

  // Column names in file order, without blanks around them.
  const std::vector<std::string>& header() const { return header_; }
  std::optional<size_t> FindColumn(std::string_view name) const;

  // Moves to the next batch, of one row or more; false after the last one. An error if the file has
  // no rows at all.
  Result<bool> NextBatch();
  // The batch; valid until the next call of NextBatch.
  size_t size() const { return lines_.size(); }
  std::string_view cell(size_t row, size_t column) const {
    return csv_.kept_cells()[row * header_.size() + column];
  }
  // visit(row, cell) for each cell of a column of the batch.
  template <typename Visitor>
  void ForEachCell(size_t column, Visitor&& visit) const {
    const size_t width = header_.size();
    const std::string_view* cell = csv_.kept_cells().data() + column;
    for (size_t row = 0; row < lines_.size(); ++row, cell += width) visit(row, *cell);
  }

  // How many rows may follow, judged by the size of those before.
  size_t EstimateRowsAhead() const;

  // Counts a problem of a row of the batch; `found` is quoted (shortened) in the example.
  void AddIssue(store::IssueKind kind, size_t row, std::string_view what, std::string_view found) {
    AddIssueAt(kind, lines_[row], what, found);
  }

  const std::string& path() const { return csv_.name(); }
  std::string_view base_name() const { return base_name_; }
  store::IssueLog& issues() { return *issues_; }

 private:
  CsvRows(CsvReader csv, const TextInput& input, const ReadOptions& options,
          store::IssueLog& issues)
      : csv_(std::move(csv)),
        base_name_(input.base_name()),
        size_bytes_(input.SizeBytes()),
        progress_(options.progress),
        issues_(&issues) {}
  bool IsSound();
  Status ReportProgress();
  void AddIssueAt(store::IssueKind kind, uint64_t line, std::string_view what,
                  std::string_view found);

  CsvReader csv_;
  std::string base_name_;
  uint64_t size_bytes_;
  Progress* progress_;
  store::IssueLog* issues_;
  std::vector<std::string> header_;

  std::vector<uint64_t> lines_;  // where the rows of the batch begin in the file
  uint64_t rows_ = 0;
  bool has_skipped_rows_ = false;
  uint64_t reported_bytes_ = 0;
};

}  // namespace steplens::readers
