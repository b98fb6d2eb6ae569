#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/parallel/strategy.h"
#include "analysis/viewer/scope.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis::viewer {

// What a rank did in a step, or in all of them together, in microseconds.
struct RankLoad {
  int64_t rank = 0;
  double computing_us = 0;
  double communication_us = 0;
  double not_overlapped_us = 0;
  double overlapped_us = 0;
  double free_us = 0;
  double preparing_us = 0;  // never negative
  double stage_us = 0;
  double bubble_us = 0;
  double exclude_receive_us = 0;

  double total_us() const { return computing_us + not_overlapped_us + free_us + preparing_us; }
};

// The step tables of all ranks (where one has none, its timeline), by rank.
Result<std::vector<RankLoad>> ReadRankLoads(const store::Job& job, std::optional<int64_t> step);

// Communication time of each rank by the name of the parallel group (tp, dp, ...), in ms.
std::map<int64_t, std::map<std::string, double>> DomainTimes(const store::Job& job,
                                                             std::optional<int64_t> step);

// The strategy that arguments (algorithm, pp, tp, cp, dp, ep, moe_tp) give; sizes that are absent
// come from the metadata, else all ranks are data parallel. Checked.
struct FoundStrategy {
  Strategy strategy;
  bool is_from_data = false;
  std::string problem{};  // why the metadata could not be used
};
Result<FoundStrategy> StrategyOf(const MetricCall& call);

}  // namespace steplens::analysis::viewer
