#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// How far the clock of each rank is ahead: displayed time = event time - offset. Vectors parallel
// to job.ranks.
struct RankOffsets {
  std::vector<int64_t> offset_ns;
  std::vector<int64_t>
      residual_ns;                  // how far the offset may be wrong, either way; kNone: not known
  std::vector<std::string> failed;  // why a rank could not be aligned; empty if it was
  int64_t violation_ns = 0;  // largest contradiction left between collectives; 0 if all agree
};

// By the collectives of all ranks: none can end on one rank before every rank has started it.
// Starts with the shifts `start_ns` (parallel to job.ranks; empty: none) and moves as little as
// these constraints ask for (least squares); ranks of one host that start with one shift share a
// clock and move together. The first rank stays where it is. Ranks without a collective that others
// took part in keep their start and failed says so.
// O(parts of all collectives x 64) and a few sweeps over pairs of hosts.
RankOffsets AlignByCollectives(const store::Job& job, std::span<const int64_t> start_ns = {});

enum class AlignSide : uint8_t { kLeft, kRight };

// So that the chosen slice and its counterparts on the other ranks start (left) or end (right)
// together. The counterpart of the k-th slice of its name, by start, is the k-th of that name on
// the same side (host or device) of another rank; that of a collective is the other ranks' part in
// the same call (collectives.h). `base_offset_ns` is what the base rank is shifted by already.
// kInvalidArgument for a slice on a lane that cannot be aligned (overlap, counters).
Result<RankOffsets> AlignBySlice(const store::Job& job, uint32_t base_rank_index,
                                 store::SliceId slice, AlignSide side, int64_t base_offset_ns);

}  // namespace steplens::analysis
