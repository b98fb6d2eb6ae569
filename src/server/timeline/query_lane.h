#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "server/names.h"
#include "server/timeline/lane.h"
#include "table/table.h"

namespace steplens::server {

// A lane whose slices are rows that a query found, with the columns it views.
struct QueryLane {
  Lane lane;  // without id, parent and rank slot
  int64_t rank = store::kNone;
  std::vector<int64_t> begin_ns;
  std::vector<int64_t> dur_ns;
  std::vector<StringId> name;     // by slice: a place in name_id
  std::vector<uint32_t> name_id;  // numbers of the data set
};

// The rows of a result as lanes, by rank and then in order of first appearance. Columns count by
// their names: the start (ts, begin_ns, start_ns, begin, start, alloc_ns; ns since the epoch) must
// be there, a duration (dur, dur_ns, duration_ns) and a text (name) may be; `lane` and `rank`
// divide the rows. Rows without a start are left out. `title` names lanes, and slices that have no
// name. An error says what the result lacks. O(n log n).
Result<std::vector<std::unique_ptr<QueryLane>>> LanesOfResult(const table::Table& result,
                                                              std::string_view title,
                                                              const NamePool& names);

}  // namespace steplens::server
