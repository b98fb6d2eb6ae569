#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/viewer/cover.h"
#include "store/trace_store.h"

namespace steplens::analysis::viewer {

// What one communication group cost a rank in time that no computing covers.
struct GroupTime {
  std::string label;     // "tp:Group 0 Communication"; without the first part if not known
  int64_t total_ns = 0;  // its operations
  bool has_tasks = false;
  // The reference viewer's split: the shortest sum of waiting tasks among the group's planes. It is
  // 0 as soon as one plane has none, however long the others wait.
  int64_t wait_ns = 0;
  // The true split, from the parts of all captured ranks: waiting for the last rank to arrive, and
  // the rest. kNone if no other rank took part in any of its operations.
  int64_t skew_ns = store::kNone;
  int64_t transfer_ns = store::kNone;
};

// The groups of a rank, by label. `store` is one of the job's ranks; `not_overlapped` is where only
// communication ran. O(n log n).
std::vector<GroupTime> GroupTimes(const store::Job& job, const store::TraceStore& store,
                                  const Cover& not_overlapped);

// "Group 0 Communication", after the name of the parallel group where metadata gives one.
std::string GroupLabel(const store::TraceStore& store, uint32_t comm_op_row);

}  // namespace steplens::analysis::viewer
