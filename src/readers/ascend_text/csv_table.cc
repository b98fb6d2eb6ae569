#include "readers/ascend_text/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/utf8.h"
#include "readers/ascend_text/number_cell.h"

namespace steplens::readers {
namespace {

using store::DynamicColumn;
using store::IssueKind;

constexpr size_t kRowsBeforeEstimate = 1024;

std::string_view WithoutQuotes(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return text.substr(1, text.size() - 2);
}

// Drops the line breaks that follow a ';'. `scratch` holds the result if there are any.
std::string_view JoinLines(std::string_view text, std::string& scratch) {
  size_t line_feed = text.find('\n');
  if (line_feed == std::string_view::npos) return text;
  scratch.clear();
  size_t begin = 0;
  for (; line_feed != std::string_view::npos; line_feed = text.find('\n', line_feed + 1)) {
    std::string_view line = text.substr(begin, line_feed - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.ends_with(';')) continue;
    scratch += line;
    begin = line_feed + 1;
  }
  scratch += text.substr(begin);
  return scratch;
}

// Spreads texts over a small table by their length and last bytes, where names and shapes differ.
size_t RecentSlot(std::string_view text) {
  uint64_t tail = uint64_t{static_cast<unsigned char>(text.front())} << 8;
  tail += static_cast<unsigned char>(text.back());
  if (text.size() >= sizeof(tail)) {
    std::memcpy(&tail, text.data() + text.size() - sizeof(tail), sizeof(tail));
  }
  return ((tail + text.size()) * 0x9E3779B97F4A7C15u) >> 48;
}

}  // namespace

std::optional<size_t> CsvTable::Find(Names names, Need need) {
  for (const std::string_view name : names) {
    const auto column = rows_.FindColumn(name);
    if (!column) continue;
    has_expected_column_ = true;
    return column;
  }
  if (need == Need::kRequired) {
    rows_.issues().Add(
        IssueKind::kCsvColumnMissing,
        fmt::format("{}: no column '{}'", rows_.base_name(), fmt::join(names, "' or '")));
  }
  return std::nullopt;
}

Need CsvTable::AllOrNone(Names names) const {
  const bool any = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return rows_.FindColumn(name).has_value();
  });
  return any ? Need::kRequired : Need::kOptional;
}

void CsvTable::Bind(size_t column, std::function<void(CsvTable&)> read) {
  bindings_.push_back({column, std::move(read)});
}

template <typename Transform>
void CsvTable::BindTexts(Names names, Texts& to, Need need, Transform transform) {
  const auto column = Find(names, need);
  if (!column) return;
  Bind(*column, [column = *column, &to, transform](CsvTable& table) {
    table.ReadTexts(column, to, transform);
  });
}

void CsvTable::Text(Names names, Texts& to, Need need) {
  BindTexts(names, to, need, [](std::string_view cell, std::string&) { return cell; });
}
void CsvTable::Shapes(Names names, Texts& to, Need need) {
  BindTexts(names, to, need,
            [](std::string_view cell, std::string&) { return WithoutQuotes(cell); });
}
void CsvTable::Lines(Names names, Texts& to, Need need) { BindTexts(names, to, need, JoinLines); }

template <typename Parse>
void CsvTable::BindInts(Names names, Ints& to, Need need, Parse parse) {
  const auto column = Find(names, need);
  if (!column) return;
  Bind(*column,
       [column = *column, &to, parse](CsvTable& table) { table.ReadInts(column, to, parse); });
}

void CsvTable::Int(Names names, Ints& to, Need need) { BindInts(names, to, need, ParseWholeCell); }
void CsvTable::Us(Names names, Ints& to_ns, Need need) {
  BindInts(names, to_ns, need, ParseUsCell);
}

void CsvTable::DurationUs(Names names, Ints& to_ns, Need need) {
  const auto column = Find(names, need);
  if (!column) return;
  Bind(*column, [column = *column, &to_ns](CsvTable& table) {
    const size_t first = to_ns.size();
    table.ReadInts(column, to_ns, ParseUsCell);
    table.ReplaceNegative(column, to_ns, first);
  });
}

void CsvTable::Bytes(Names names, Ints& to, Need need, double kb_per_mb) {
  const auto column = Find(names, need);
  if (!column) return;
  const double bytes_per_unit = header()[*column].ends_with("(KB)") ? 1024 : 1024 * kb_per_mb;
  Bind(*column, [column = *column, &to, bytes_per_unit](CsvTable& table) {
    table.ReadInts(column, to,
                   [=](std::string_view cell) { return ParseBytesCell(cell, bytes_per_unit); });
  });
}

void CsvTable::Number(Names names, Numbers& to, Need need) {
  const auto column = Find(names, need);
  if (!column) return;
  Bind(*column, [column = *column, &to](CsvTable& table) { table.ReadNumbers(column, to); });
}

void CsvTable::Metrics(std::vector<DynamicColumn>& metrics, size_t rows_before) {
  metrics_ = &metrics;
  const auto find = [&](std::string_view name) {
    return std::find_if(metrics.begin(), metrics.end(),
                        [&](const auto& m) { return m.name == name; });
  };
  const auto is_bound = [&](size_t column) {
    return std::any_of(bindings_.begin(), bindings_.end(),
                       [&](const auto& b) { return b.column == column; });
  };
  std::vector<size_t> columns;
  for (size_t column = 0; column < header().size(); ++column) {
    const std::string& name = header()[column];
    const bool is_repeated = *rows_.FindColumn(name) != column;
    if (name.empty() || is_repeated || is_bound(column)) continue;
    columns.push_back(column);
    if (find(name) == metrics.end()) metrics.emplace_back().name = name;
  }
  // Bound only now: adding to `metrics` moves its columns.
  for (const size_t column : columns) {
    DynamicColumn& to = *find(header()[column]);
    const bool holds_texts = to.is_text();
    Metric metric{&to, !holds_texts && to.size() > 0, holds_texts};
    FillUp(to, rows_before);
    Bind(column, [column, metric](CsvTable& table) mutable { table.ReadMetric(column, metric); });
  }
}

Status CsvTable::ReadRows() {
  if (!has_expected_column_) {
    constexpr size_t kMaxQuoted = 200;
    const std::string found = fmt::format("{}", fmt::join(header(), ","));
    return Error{ErrorCode::kCorruptData,
                 fmt::format("{}: none of the expected columns is in the first line, which is: {}",
                             rows_.path(), found.substr(0, kMaxQuoted))};
  }
  bool has_estimate = false;
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_rows, rows_.NextBatch());
    if (!has_rows) return {};
    const bool is_time_to_estimate = !has_estimate && rows_read_ >= kRowsBeforeEstimate;
    rows_ahead_ = is_time_to_estimate ? rows_.EstimateRowsAhead() + rows_.size() : 0;
    has_estimate |= is_time_to_estimate;
    for (Binding& binding : bindings_) binding.read(*this);
    rows_read_ += rows_.size();
  }
}

// Neighbours are often equal: then neither `transform` nor the pool is asked.
template <typename Transform>
void CsvTable::ReadTexts(size_t column, Texts& to, Transform transform) {
  ReserveAhead(to);
  std::array<StringId, CsvRows::kBatchRows> ids;
  std::string_view last;
  StringId id = StringId::kEmpty;
  rows_.ForEachCell(column, [&](size_t row, std::string_view cell) {
    if (cell != last) id = Intern(column, row, transform(cell, scratch_));
    last = cell;
    ids[row] = id;
  });
  to.Append(std::span<const StringId>(ids.data(), rows_.size()));
}

template <typename Parse>
void CsvTable::ReadInts(size_t column, Ints& to, Parse parse) {
  ReserveAhead(to);
  std::array<int64_t, CsvRows::kBatchRows> values;
  rows_.ForEachCell(column, [&](size_t row, std::string_view cell) {
    values[row] = parse(cell);
    if (values[row] == store::kNone) CountNotANumber(column, row);
  });
  to.Append(std::span<const int64_t>(values.data(), rows_.size()));
}

void CsvTable::ReadNumbers(size_t column, Numbers& to) {
  ReserveAhead(to);
  for (size_t row = 0; row < rows_.size(); ++row) {
    const double value = ParseNumberCell(rows_.cell(row, column));
    if (std::isnan(value)) CountNotANumber(column, row);
    to.Append(value);
  }
}

void CsvTable::ReadMetric(size_t column, Metric& metric) {
  size_t row = metric.holds_texts ? 0 : ReadMetricNumbers(column, metric);
  for (; row < rows_.size(); ++row) {
    metric.to->texts.Append(Intern(column, row, rows_.cell(row, column)));
  }
}

// Stops at a text if no number came before it, and makes the metric one of texts. Returns the row
// it stopped at.
size_t CsvTable::ReadMetricNumbers(size_t column, Metric& metric) {
  DynamicColumn& to = *metric.to;
  ReserveAhead(to.numbers);
  std::array<double, CsvRows::kBatchRows> values;
  bool all_numbers = true;
  rows_.ForEachCell(column, [&](size_t row, std::string_view cell) {
    values[row] = ParseNumberCell(cell);
    all_numbers &= !std::isnan(values[row]);
  });
  for (size_t row = 0; row < rows_.size() && !all_numbers; ++row) {
    const std::string_view cell = rows_.cell(row, column);
    if (!std::isnan(values[row])) {
      metric.holds_numbers = true;
    } else if (metric.holds_numbers || IsMissing(cell)) {
      CountNotANumber(column, row);
    } else {
      metric.holds_texts = true;
      FillUp(to.texts, to.numbers.size() + row);
      to.numbers = {};
      return row;
    }
  }
  metric.holds_numbers |= all_numbers;
  to.numbers.Append(std::span<const double>(values.data(), rows_.size()));
  return rows_.size();
}

StringId CsvTable::Intern(size_t column, size_t row, std::string_view text) {
  if (IsMissing(text)) return StringId::kEmpty;
  StringId& recent = recent_[RecentSlot(text) % recent_.size()];
  if (out_.Text(recent) == text) return recent;
  const size_t texts_before = out_.strings.size();
  const StringId id = out_.strings.Intern(text);
  recent = id;
  if (out_.strings.size() == texts_before) return id;
  const bool has_zeros = text.find('\0') != std::string_view::npos;  // a disk's, of a lost block
  if (has_zeros || !IsValidUtf8(text)) {
    rows_.AddIssue(IssueKind::kInvalidUtf8, row, fmt::format("column '{}'", header()[column]),
                   text);
  }
  return id;
}

void CsvTable::ReplaceNegative(size_t column, Ints& durs_ns, size_t first) {
  for (size_t row = 0; row < rows_.size(); ++row) {
    const int64_t dur_ns = durs_ns[first + row];
    if (dur_ns >= 0 || dur_ns == store::kNone) continue;
    rows_.AddIssue(IssueKind::kNegativeDuration, row, fmt::format("column '{}'", header()[column]),
                   rows_.cell(row, column));
    durs_ns.Set(first + row, 0);
  }
}

// A cell marked as having no number is not an issue.
void CsvTable::CountNotANumber(size_t column, size_t row) {
  const std::string_view cell = rows_.cell(row, column);
  if (IsMissing(cell)) return;
  rows_.AddIssue(IssueKind::kCsvCellNotANumber, row,
                 fmt::format("column '{}' is not a number", header()[column]), cell);
}

}  // namespace steplens::readers
