#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// A rank's part in a collective. Members of one call share its key: group, kind of operation and
// ordinal, inside the step where ranks captured different numbers of calls. The running number in
// operator names is not used: it differs between ranks whose warm-up differed.
struct CollectivePart {
  uint32_t rank_index = 0;  // in job.ranks
  uint32_t row = 0;         // of comm_ops
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
  int64_t count = store::kNone;  // elements, where known
  int64_t end_ns() const;
};

// The collectives of a job, each with the parts of all captured ranks. Sends and receives are left
// out: their two sides are different operations.
class CollectiveBook {
 public:
  explicit CollectiveBook(const store::Job& job);  // O(n log n) over all comm_ops

  struct Call {
    std::string key;    // "group/hcom_allReduce_/000003", or ".../50/000003" with steps
    std::string group;  // the same on all ranks
    std::vector<CollectivePart> parts;  // by rank; those whose element count disagrees are left out
    // All members leave a collective together, so what the shortest part took is the transfer, and
    // what a part took longer was spent waiting for the last rank to arrive: no clock is compared.
    int64_t ShortestNs() const;
  };
  std::span<const Call> calls() const { return calls_; }  // by key
  // The call that a row of a rank's comm_ops belongs to; nullptr for sends and receives.
  const Call* Find(uint32_t rank_index, uint32_t comm_op_row) const;

 private:
  std::vector<Call> calls_;
  std::vector<std::vector<uint32_t>> call_of_row_;  // [rank][row]: index of calls_, or none
};

// The row of comm_ops that a slice shows, by name and start; nothing for other slices. O(comm_ops).
std::optional<uint32_t> CommOpOf(const store::TraceStore& store, store::SliceId slice);

// A name for a rank's communication group that is the same on all ranks: the hash of the group id,
// taken from the communication results where the timeline only numbers its groups.
class GroupNames {
 public:
  explicit GroupNames(const store::TraceStore& store);
  std::string Of(uint32_t comm_op_row) const;

 private:
  const store::TraceStore& store_;                        // outlives this
  std::unordered_map<uint32_t, std::string> by_op_name_;  // StringId of the name -> group
};

}  // namespace steplens::analysis
