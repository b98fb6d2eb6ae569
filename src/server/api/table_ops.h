#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "server/api/table_rows.h"
#include "server/text_match.h"

namespace steplens::server {

// A condition on one column. Times are compared in microseconds, as they are shown.
struct RowCondition {
  enum class Op : uint8_t { kMatch, kEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn };
  SourceColumn column;
  Op op = Op::kEqual;
  bool negated = false;
  std::vector<TextMatcher> matcher{};  // one, of kMatch
  std::vector<std::string> texts{};    // values as texts
  double number = 0;                   // the value as number
  bool is_number = false;
};
struct SortKey {
  SourceColumn column;
  bool descending = false;
};
struct Measure {
  SourceColumn column;
  std::string function;  // sum, avg, min, max, count, p50, p90, p99
};

// The lists "filter", "sort" and "measures" of a table request, checked against the columns.
Result<std::vector<RowCondition>> ParseConditions(JsonValue list, const RowSource& source);
Result<std::vector<SortKey>> ParseSort(JsonValue list, const RowSource& source);
Result<std::vector<Measure>> ParseMeasures(JsonValue list, const RowSource& source);
// An error that lists the columns if there is none of that name.
Result<SourceColumn> ParseColumn(std::string_view name, const RowSource& source);

// Rows that meet all conditions, in order.
std::vector<uint32_t> FilterRows(const RowSource& source,
                                 const std::vector<RowCondition>& conditions);
// Orders rows by the keys; equal ones keep their order. Empty cells are the least.
void SortRows(const std::vector<SortKey>& keys, std::vector<uint32_t>& rows);
// One row a distinct combination of the group columns, in order of first appearance: those columns,
// "count" and the measures, named "sum(dur_ns)".
table::Table GroupRows(const std::vector<uint32_t>& rows, const std::vector<SourceColumn>& group,
                       const std::vector<Measure>& measures);

// The cell as text, without quotes: microseconds for times, empty for nothing.
std::string CellText(const RowColumn& column, const CellValue& value);

}  // namespace steplens::server
