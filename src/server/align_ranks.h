#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "store/trace_store.h"

namespace steplens::server {

// A collective is the same on two ranks if its group, type and place among those of the group and
// type agree: names carry running numbers that differ when warm-up differs.
using CollectiveKey = std::tuple<std::string, std::string, uint32_t>;
struct CollectiveTimes {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};
using RankCollectives = std::map<CollectiveKey, CollectiveTimes>;

// The collectives of a rank, from the last backwards: captures end together more often than they
// begin together, so place 0 is the last one. Point-to-point operations are left out.
RankCollectives CollectivesOf(const store::TraceStore& store);

struct AutoAlignment {
  std::vector<int64_t> offset_ns;    // by index of the rank; shown time = time - offset
  std::vector<int64_t> residual_ns;  // how much the offset may be off, either way
  std::vector<size_t> matched;       // collectives shared with the rank it was aligned to
};

// Offsets closest to `current_ns` with which no collective ends on one rank before all have begun
// it. Of two ranks a and b every shared collective says
//   begin_b - offset_b <= end_a - offset_a  and  begin_a - offset_a <= end_b - offset_b,
// which leaves an interval for offset_b - offset_a. Ranks are aligned to the first rank they share
// collectives with, directly or through others.
AutoAlignment AlignCollectives(const std::vector<RankCollectives>& ranks,
                               const std::vector<int64_t>& current_ns);

}  // namespace steplens::server
