#include "readers/ascend_text/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cancel.h"
#include "base/number.h"

namespace steplens::readers {
namespace {

using store::IssueKind;

}  // namespace

Result<CsvRows> CsvRows::Open(const TextInput& input, const ReadOptions& options,
                              store::IssueLog& issues) {
  SL_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, input.Open());
  CsvRows rows(CsvReader(std::move(source), input.path), input, options, issues);
  SL_ASSIGN_OR_RETURN(const bool has_header, rows.csv_.Next());
  if (!has_header) {
    return Error{
        ErrorCode::kCorruptData,
        fmt::format("{}: the file is empty; a line of column names was expected", input.path)};
  }
  for (const std::string_view name : rows.csv_.cells()) rows.header_.emplace_back(Trim(name));
  return rows;
}

std::optional<size_t> CsvRows::FindColumn(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<size_t>(found - header_.begin());
}

Result<bool> CsvRows::NextBatch() {
  csv_.DropKeptCells();
  lines_.clear();
  SL_RETURN_IF_ERROR(ReportProgress());
  while (lines_.size() < kBatchRows) {
    // More may be read from the file only while no cell of the batch points into the text in
    // memory.
    bool has_row = csv_.NextBuffered();
    if (!has_row && lines_.empty()) {
      SL_ASSIGN_OR_RETURN(has_row, csv_.Next());
    }
    if (!has_row) break;
    if (!IsSound()) continue;
    csv_.KeepCells(header_.size());
    lines_.push_back(csv_.line());
  }
  rows_ += lines_.size();
  if (rows_ == 0 && !has_skipped_rows_) {
    return Error{ErrorCode::kCorruptData,
                 fmt::format("{}: the file has column names and no rows; a file without rows is "
                             "never written, so they were lost",
                             path())};
  }
  return !lines_.empty();
}

size_t CsvRows::EstimateRowsAhead() const {
  const uint64_t read = csv_.text_position();
  if (rows_ == 0 || size_bytes_ <= read) return 0;
  const auto rows = static_cast<size_t>((size_bytes_ - read) / (read / rows_));
  return rows + rows / 16;  // running out of room at the end costs a copy of the column
}

bool CsvRows::IsSound() {
  const size_t cells = csv_.cells().size();
  const bool is_short = cells < header_.size();
  if (!is_short && !csv_.ends_in_quotes()) {
    if (cells > header_.size()) {
      AddIssueAt(IssueKind::kCsvRowTooLong, csv_.line(), "more cells than the header has columns",
                 csv_.cells()[header_.size()]);
    }
    if (csv_.ends_without_newline()) {
      AddIssueAt(IssueKind::kCsvLastRowOpen, csv_.line(), "no line end behind the last cell",
                 csv_.cells().back());
    }
    return true;
  }
  has_skipped_rows_ = true;
  const bool is_cut = csv_.ends_in_quotes() || csv_.ends_without_newline();
  const auto kind = is_cut ? IssueKind::kCsvTruncated : IssueKind::kCsvRowTooShort;
  AddIssueAt(kind, csv_.line(), fmt::format("{} of {} cells, the last one", cells, header_.size()),
             csv_.cells().back());
  return false;
}

Status CsvRows::ReportProgress() {
  if (IsCancelled()) {
    return Error{ErrorCode::kCancelled, fmt::format("{}: reading was interrupted", path())};
  }
  if (progress_ != nullptr) {
    progress_->Add(csv_.file_position() - reported_bytes_);
    reported_bytes_ = csv_.file_position();
  }
  return {};
}

void CsvRows::AddIssueAt(IssueKind kind, uint64_t line, std::string_view what,
                         std::string_view found) {
  constexpr size_t kMaxQuoted = 60;
  if (!issues_->IsFirst(kind)) return issues_->Add(kind, {});
  issues_->Add(kind,
               fmt::format("{}:{}: {}: '{}'{}", base_name_, line, what, found.substr(0, kMaxQuoted),
                           found.size() > kMaxQuoted ? "..." : ""));
}

}  // namespace steplens::readers
