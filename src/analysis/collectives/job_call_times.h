#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/collectives/call_times.h"
#include "analysis/collectives/collective_book.h"
#include "analysis/collectives/group_sizes.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// Where the rank's comm_times come from: of raw device data they are worked out from tasks.
TimesSource SourceOfResults(const store::TraceStore& store);

// Whether the rank's communication results were written with a look at tasks: one of its calls, of
// any step, took longer than its transfer. O(comm_times).
bool ResultsDivideCalls(const store::TraceStore& store);

// What a rank recorded of each row of its comm_ops: the row of comm_times with its name and the
// nearest start, else the tasks on its planes where they move data; nothing where there is neither,
// or where they give every call of the rank to the transfer.
// O(n log n).
std::vector<std::optional<RecordedTimes>> RecordedCalls(const store::TraceStore& store);

// The communication calls of a job's timelines, each divided by the model of call_times.h. The job
// must outlive it. For one thread.
class JobCallTimes {
 public:
  explicit JobCallTimes(const store::Job& job);

  // By rank (index of job.ranks) and row of its comm_ops.
  CallTimes Of(uint32_t rank_index, uint32_t row);
  CallPeers PeersOf(uint32_t rank_index, uint32_t row) const;
  const CollectiveBook& book() const { return book_; }

 private:
  const store::Job& job_;
  CollectiveBook book_;
  GroupSizes sizes_;
  std::vector<std::optional<std::vector<std::optional<RecordedTimes>>>> recorded_;  // by rank
};

}  // namespace steplens::analysis
