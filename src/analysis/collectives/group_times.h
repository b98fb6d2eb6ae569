#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/collectives/call_times.h"
#include "analysis/overlap/cover.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// What one communication group cost a rank in time that no computing covers.
struct GroupTime {
  std::string label;     // "tp:Group 0 Communication"; without the first part if not known
  int64_t total_ns = 0;  // its operations
  bool has_tasks = false;
  // The reference viewer's split: the shortest sum of waiting tasks among the group's planes. It is
  // 0 as soon as one plane has none, however long the others wait.
  int64_t wait_ns = 0;
  // The division by the model of collectives/call_times.h: its parts add up to the time of the
  // calls that it knows. Where inside a call they lie is not recorded; idling is taken to come
  // first, then waiting, then the transfer. kNone if the model knows none of the calls.
  int64_t transit_ns = store::kNone;
  int64_t model_wait_ns = store::kNone;
  int64_t idle_ns = store::kNone;
  TimesSource source = TimesSource::kUnknown;  // the weakest of its calls'
  CallPeers peers{};                           // of the call of which the fewest were captured
};

// The groups of a rank, by label. `store` is one of the job's ranks; `not_overlapped` is where only
// communication ran. O(n log n).
std::vector<GroupTime> GroupTimes(const store::Job& job, const store::TraceStore& store,
                                  const Cover& not_overlapped);

// "Group 0 Communication", after the name of the parallel group where metadata gives one.
std::string GroupLabel(const store::TraceStore& store, uint32_t comm_op_row);

}  // namespace steplens::analysis
