#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/advice/rank_evidence.h"
#include "analysis/facts/rank_view.h"
#include "table/table.h"

// The ranks of a job side by side: how long each computes, communicates and idles per step, and how
// fast its links are.

namespace steplens::analysis {

// What a step of a rank consists of, as its step table or its timeline says.
struct RankStep {
  int64_t step = 0;
  int64_t rank = 0;
  double computing_us = 0;
  double communication_us = 0;  // that no computing hides
  double free_us = 0;
  double TotalUs() const { return computing_us + communication_us + free_us; }
};
// By step, then rank.
std::vector<RankStep> ReadRankSteps(const std::vector<RankView>& ranks);
table::Table RankStepTable(const std::vector<RankStep>& steps);
// Ranks of which one takes much longer than another in the same step; the step that differs most.
std::vector<Finding> FindSlowRanks(const std::vector<RankStep>& steps,
                                   const RuleThresholds& limits);

// The slowest and the fastest rank of the step in which they differ most in a part; nothing if they
// do not differ by the share of that part that slow_rank has.
std::optional<std::pair<int64_t, int64_t>> PickRanks(const std::vector<RankStep>& steps,
                                                     double RankStep::* part,
                                                     const RuleThresholds& limits);

// What a rank moved in a step over one kind of link.
struct RankBandwidth {
  int64_t step = 0;
  int64_t rank = 0;
  double rdma_mb = 0;
  double rdma_ms = 0;
  double sdma_mb = 0;
  double sdma_ms = 0;
};
std::vector<RankBandwidth> SumBandwidths(const CommData& data);
table::Table RankBandwidthTable(const std::vector<RankBandwidth>& rows);
std::vector<Finding> FindSlowBandwidths(const std::vector<RankBandwidth>& rows,
                                        const RuleThresholds& limits);

// Ranks of one pipeline stage that compute longer than its others. A stage is the ranks of which
// the recorded parallel groups say so; without them nothing is found.
std::vector<Finding> FindStageImbalance(const std::vector<RankStep>& steps,
                                        const std::vector<std::vector<int64_t>>& stages,
                                        const RuleThresholds& limits);
// The stages of a job: ranks that are in the same place of all recorded pipeline groups.
std::vector<std::vector<int64_t>> StagesOf(const std::vector<RankView>& ranks);

}  // namespace steplens::analysis
