#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/cluster/summary/late_ranks.h"

// What FindLateRanks says about whole stages and about experts.

namespace steplens::analysis::cluster {

inline constexpr double kMinShareOfStep = 0.02;  // below, nothing is named

using LoadsOfStage = std::vector<RankLoad*>;

double MedianOf(const LoadsOfStage& ranks, double RankLoad::* field);

// Pipeline stages that compute longer than the others, or whose devices idle longer, and hosts that
// are made of such stages.
std::vector<LateGroup> FindSlowStages(const std::map<int64_t, LoadsOfStage>& stages);

// The ranks whose experts have more to do than those of others, by EP index if it is known. What
// they do longer is taken from `ranks`, so that other faults show.
std::optional<LateGroup> TakeUnevenExperts(std::vector<RankLoad>& ranks);

}  // namespace steplens::analysis::cluster
