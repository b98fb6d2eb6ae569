#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace steplens::analysis {

// How the ranks of a job divide into parallel dimensions.
struct Strategy {
  std::string algorithm = "megatron-lm(tp-cp-ep-dp-pp)";
  int64_t pp = 1;
  int64_t tp = 1;
  int64_t cp = 1;
  int64_t dp = 1;
  int64_t ep = 1;
  int64_t moe_tp = 1;

  // Ranks that the sizes describe.
  int64_t World() const { return pp * tp * cp * dp; }
};

// The algorithms known, the default first.
std::vector<std::string> Algorithms();

// An error (kInvalidArgument) that says which rule is broken: sizes from 1 to 10,000, at most
// 100,000 ranks, what the algorithm asks of EP, and a world of at least `ranks`.
Status CheckStrategy(const Strategy& strategy, int64_t ranks);

// Where a rank stands. Strides grow in the order of the algorithm, e.g. tp, cp, dp, pp.
struct RankPlace {
  int64_t tp = 0;
  int64_t cp = 0;
  int64_t dp = 0;
  int64_t pp = 0;
};
RankPlace PlaceOf(const Strategy& strategy, int64_t rank);
int64_t RankAt(const Strategy& strategy, const RankPlace& place);

// Groups of ranks that agree in every dimension but those of the token: "tp", "dp-cp",
// "tp-pp" (mp), and with EP above 1 "ep" (exp), "tp-ep" (tp_exp), "ep_dp" (dp_modulo_exp),
// "ep_dp-cp" (dp_modulo_exp_cp), "tp-ep-pp" (mp_exp). Each group ascending, groups by first rank.
struct ParallelGroup {
  std::string token;
  int64_t index = 0;
  std::vector<int64_t> ranks;
};
std::vector<ParallelGroup> ParallelGroups(const Strategy& strategy);

}  // namespace steplens::analysis
