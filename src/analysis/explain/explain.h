#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/args_reader.h"
#include "analysis/facts/rank_view.h"
#include "analysis/overlap/overlap.h"
#include "analysis/text/message.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// A slice of one of the job's ranks.
struct SliceRef {
  uint32_t rank_index = 0;
  store::SliceId slice = store::kNoSlice;
};

// One link in a chain of evidence.
struct Evidence {
  Message wording;
  int64_t ns = 0;                   // how much time it is about
  double share = 0;                 // of what is explained, 0 to 1
  std::optional<SliceRef> slice{};  // where to look
  std::optional<Interval> range{};  // or when, in epoch ns
};

struct Explanation {
  Message title;
  std::vector<Evidence> items;  // causes first (their shares add up to 1), then what supports them
  Message verdict;              // the largest cause, in one sentence
};

// The time without a task around `ts_ns` on a stream: from the end of the last task that ended by
// then to the start of the next one. kNotFound if a task runs then, or none comes before or after.
Result<Interval> FindGap(const store::TraceStore& store, store::TrackId track, int64_t ts_ns);

// Why nothing ran on the device in the gap: nothing was queued (host bound), the next task waited
// for communication or for another stream (dependency), or the launch took its time. The four
// shares add up to 1. Below: what the host did meanwhile. `track` is the stream, or kNoTrack for
// all streams of the rank (the Free lane).
Result<Explanation> ExplainGap(const store::Job& job, uint32_t rank_index, store::TrackId track,
                               Interval gap);
// The same for several gaps, which share one look at the slices of the rank.
std::vector<Result<Explanation>> ExplainGaps(const store::Job& job, uint32_t rank_index,
                                             store::TrackId track, std::span<const Interval> gaps);

// How a collective divides into transfer, waiting and idle time (collectives/call_times.h), who
// came last and what that rank did meanwhile where all ranks of the group were captured, and the
// bandwidth reached. `slice` is on a communication group's track or is a NCCL kernel;
// kInvalidArgument for other slices.
Result<Explanation> ExplainWait(const store::Job& job, uint32_t rank_index, store::SliceId slice);

// How a slice compares with its siblings (same name and, for kernels, shapes), and what is
// different about it: frequency, cores used, a collective beside it, a metric; or nothing known. A
// slice that waits is explained by what ends it instead, a collective as ExplainWait does it.
// `facts` are those of the rank, for who keeps them; `read_args` finds the args of slices again.
Result<Explanation> ExplainSlice(const store::Job& job, uint32_t rank_index, store::SliceId slice,
                                 const RankView& facts, const ArgsReader& read_args = {});
Result<Explanation> ExplainSlice(const store::Job& job, uint32_t rank_index, store::SliceId slice);

}  // namespace steplens::analysis
