#include "analysis/advice/rank_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/breakdown/step_table.h"
#include "analysis/cells.h"
#include "base/json.h"

namespace steplens::analysis {
namespace {

std::string Ms3(double us) { return fmt::format("{:.3f}", us / 1000); }

double OrZero(double value) { return std::isfinite(value) ? value : 0; }

std::string StepText(int64_t step) { return step == store::kNone ? "-" : std::to_string(step); }

// The ranks that differ most in one part of a step.
struct RankGap {
  const RankStep* slow = nullptr;
  const RankStep* fast = nullptr;
  double gap_us = 0;
  double share = 0;  // of the mean step
};

// Rows of one step, compared by one part.
RankGap GapOf(std::span<const RankStep> rows, double RankStep::* part) {
  RankGap gap;
  double total_us = 0;
  for (const RankStep& row : rows) {
    total_us += row.TotalUs();
    if (gap.slow == nullptr || row.*part > gap.slow->*part) gap.slow = &row;
    if (gap.fast == nullptr || row.*part < gap.fast->*part) gap.fast = &row;
  }
  if (gap.slow == nullptr) return gap;
  gap.gap_us = gap.slow->*part - gap.fast->*part;
  gap.share = Share(gap.gap_us, total_us / static_cast<double>(rows.size()));
  return gap;
}

// visit(rows of a step) of rows that are sorted by step.
template <typename Visit>
void ForEachStepOf(const std::vector<RankStep>& steps, const Visit& visit) {
  for (size_t from = 0; from < steps.size();) {
    size_t to = from;
    while (to < steps.size() && steps[to].step == steps[from].step) ++to;
    visit(std::span(steps).subspan(from, to - from));
    from = to;
  }
}

struct RankPart {
  double RankStep::* member;
  const char* name;
  const char* advice;
};
constexpr std::array<RankPart, 3> kRankParts{{
    {&RankStep::computing_us, "finding.slow_rank.computing", "finding.slow_rank.computing_advice"},
    {&RankStep::communication_us, "finding.slow_rank.communication",
     "finding.slow_rank.communication_advice"},
    {&RankStep::free_us, "finding.slow_rank.free", "finding.slow_rank.free_advice"},
}};

}  // namespace

std::vector<RankStep> ReadRankSteps(const std::vector<RankView>& ranks) {
  std::vector<RankStep> out;
  for (const RankView& rank : ranks) {
    for (const StepRow& row : ReadStepTable(rank)) {
      out.push_back({row.step, rank.rank(), OrZero(row.computing_us),
                     OrZero(row.comm_not_overlapped_us), OrZero(row.free_us)});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const RankStep& a, const RankStep& b) {
    return std::pair(a.step, a.rank) < std::pair(b.step, b.rank);
  });
  return out;
}

table::Table RankStepTable(const std::vector<RankStep>& steps) {
  TableRows rows("slow rank",
                 {IntColumn("step"), IntColumn("rank_id"), NumberColumn("compute(us)", 3),
                  NumberColumn("communication(us)", 3), NumberColumn("free(us)", 3)});
  for (const RankStep& one : steps)
    rows.Add(one.step, one.rank, one.computing_us, one.communication_us, one.free_us);
  return rows.Take();
}

std::vector<Finding> FindSlowRanks(const std::vector<RankStep>& steps,
                                   const RuleThresholds& limits) {
  std::vector<Finding> findings;
  for (const RankPart& part : kRankParts) {
    RankGap worst;
    ForEachStepOf(steps, [&](std::span<const RankStep> rows) {
      const RankGap gap = rows.size() > 1 ? GapOf(rows, part.member) : RankGap{};
      if (gap.share > worst.share) worst = gap;
    });
    if (worst.slow == nullptr || worst.share <= limits.slow_rank_gap_share) continue;
    Finding finding;
    finding.rule = RuleId::kSlowRank;
    finding.subject = {"finding.slow_rank", {{"part", Message{part.name}}}};
    finding.reason = {"finding.slow_rank.reason",
                      {{"gap", Ms3(worst.gap_us)},
                       {"percent", fmt::format("{:.1f}", 100 * worst.share)},
                       {"slow", std::to_string(worst.slow->rank)},
                       {"slow_step", StepText(worst.slow->step)},
                       {"fast", std::to_string(worst.fast->rank)},
                       {"fast_step", StepText(worst.fast->step)}}};
    finding.advice = {part.advice};
    finding.ranks = {worst.slow->rank};
    finding.evidence = {{{"evidence.rank_steps", {{"count", std::to_string(steps.size())}}},
                         "SELECT rank, step, computing_ns, communication_not_overlapped_ns, "
                         "free_ns FROM breakdown"}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::optional<std::pair<int64_t, int64_t>> PickRanks(const std::vector<RankStep>& steps,
                                                     double RankStep::* part,
                                                     const RuleThresholds& limits) {
  RankGap worst;
  ForEachStepOf(steps, [&](std::span<const RankStep> rows) {
    if (rows.size() < 2) return;
    RankGap gap = GapOf(rows, part);
    double sum_us = 0;
    for (const RankStep& row : rows) sum_us += row.*part;
    gap.share = Share(gap.gap_us, sum_us / static_cast<double>(rows.size()));
    if (gap.share > worst.share) worst = gap;
  });
  if (worst.slow == nullptr || worst.share < limits.slow_rank_gap_share) return std::nullopt;
  return std::pair(worst.slow->rank, worst.fast->rank);
}

std::vector<RankBandwidth> SumBandwidths(const CommData& data) {
  std::map<std::pair<int64_t, int64_t>, RankBandwidth> sums;
  for (const CommTraffic& row : data.traffic) {
    const bool is_rdma = row.transport == "RDMA";
    if (!is_rdma && row.transport != "SDMA") continue;
    RankBandwidth& sum = sums[{row.step, row.rank}];
    sum.step = row.step;
    sum.rank = row.rank;
    (is_rdma ? sum.rdma_mb : sum.sdma_mb) += OrZero(row.size_mb);
    (is_rdma ? sum.rdma_ms : sum.sdma_ms) += OrZero(row.time_ms);
  }
  std::vector<RankBandwidth> out;
  for (const auto& [key, sum] : sums) out.push_back(sum);
  return out;
}

table::Table RankBandwidthTable(const std::vector<RankBandwidth>& bandwidths) {
  TableRows rows("slow link",
                 {IntColumn("step"), IntColumn("rank_id"), NumberColumn("RDMA bandwidth(GB/s)", 4),
                  NumberColumn("RDMA size(mb)", 3), NumberColumn("RDMA time(ms)", 3),
                  NumberColumn("SDMA bandwidth(GB/s)", 4), NumberColumn("SDMA size(mb)", 3),
                  NumberColumn("SDMA time(ms)", 3)});
  for (const RankBandwidth& one : bandwidths) {
    rows.Add(one.step, one.rank, RoundTo(Share(one.rdma_mb, one.rdma_ms), 4), one.rdma_mb,
             one.rdma_ms, RoundTo(Share(one.sdma_mb, one.sdma_ms), 4), one.sdma_mb, one.sdma_ms);
  }
  return rows.Take();
}

std::vector<Finding> FindSlowBandwidths(const std::vector<RankBandwidth>& rows,
                                        const RuleThresholds& limits) {
  std::vector<Finding> findings;
  for (const bool is_rdma : {true, false}) {
    double sum = 0;
    double least = 0;
    double most = 0;
    int64_t count = 0;
    int64_t slowest = 0;
    for (const RankBandwidth& row : rows) {
      // MB per ms are GB/s.
      const double gbps =
          is_rdma ? Share(row.rdma_mb, row.rdma_ms) : Share(row.sdma_mb, row.sdma_ms);
      if (gbps <= 0) continue;
      if (count == 0 || gbps < least) {
        least = gbps;
        slowest = row.rank;
      }
      most = std::max(most, gbps);
      sum += gbps;
      ++count;
    }
    if (count < 2) continue;
    const double mean = sum / static_cast<double>(count);
    if (Share(most - least, mean) < limits.link_bandwidth_gap_share) continue;
    const std::string transport = is_rdma ? "RDMA" : "SDMA";
    Finding finding;
    finding.rule = RuleId::kLinkBandwidth;
    finding.subject = {"finding.link_bandwidth",
                       {{"transport", transport}, {"rank", std::to_string(slowest)}}};
    finding.reason = {"finding.link_bandwidth.reason",
                      {{"least", fmt::format("{:.3f}", least)},
                       {"most", fmt::format("{:.3f}", most)},
                       {"mean", fmt::format("{:.3f}", mean)},
                       {"rank", std::to_string(slowest)},
                       {"percent", fmt::format("{:.1f}", 100 * (1 - Share(least, mean)))}}};
    finding.advice = {is_rdma ? "finding.link_bandwidth.rdma" : "finding.link_bandwidth.sdma"};
    finding.ranks = {slowest};
    finding.effort = Effort::kHardware;
    finding.evidence = {
        {{"evidence.rank_steps", {{"count", std::to_string(count)}}},
         fmt::format("SELECT rank, step, sum(transit_size_mb) / sum(transit_ms) FROM "
                     "comm_bandwidths WHERE transport = '{}' AND op_name <> 'Total Op Info' "
                     "GROUP BY rank, step",
                     transport)}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> FindStageImbalance(const std::vector<RankStep>& steps,
                                        const std::vector<std::vector<int64_t>>& stages,
                                        const RuleThresholds& limits) {
  std::vector<Finding> findings;
  for (const std::vector<int64_t>& stage : stages) {
    std::vector<RankStep> own;
    for (const RankStep& row : steps) {
      if (std::find(stage.begin(), stage.end(), row.rank) != stage.end()) own.push_back(row);
    }
    RankGap worst;
    ForEachStepOf(own, [&](std::span<const RankStep> rows) {
      RankGap gap = rows.size() > 1 ? GapOf(rows, &RankStep::computing_us) : RankGap{};
      double mean_us = 0;
      for (const RankStep& row : rows) mean_us += row.computing_us;
      gap.share = Share(gap.gap_us, mean_us / static_cast<double>(rows.size()));
      if (gap.share > worst.share) worst = gap;
    });
    if (worst.slow == nullptr || worst.share < limits.stage_compute_gap_share) continue;
    Finding finding;
    finding.rule = RuleId::kStageCompute;
    finding.subject = {"finding.stage_compute", {{"ranks", ShortRanks(stage)}}};
    finding.reason = {"finding.stage_compute.reason",
                      {{"gap", Ms3(worst.gap_us)},
                       {"percent", fmt::format("{:.1f}", 100 * worst.share)},
                       {"slow", std::to_string(worst.slow->rank)},
                       {"fast", std::to_string(worst.fast->rank)}}};
    finding.advice = {"finding.stage_compute.advice"};
    finding.ranks = {worst.slow->rank};
    finding.evidence = {{{"evidence.rank_steps", {{"count", std::to_string(own.size())}}},
                         "SELECT rank, step, computing_ns FROM breakdown"}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<std::vector<int64_t>> StagesOf(const std::vector<RankView>& ranks) {
  // Groups that run through the pipeline list their ranks stage by stage.
  std::map<size_t, std::vector<int64_t>> by_place;
  std::map<int64_t, bool> seen;
  for (const RankView& rank : ranks) {
    const auto groups = rank.store().FindMeta("parallel_group_info");
    if (!groups) continue;
    const Result<JsonDocument> document = JsonDocument::Parse(*groups, "parallel_group_info");
    if (!document.ok()) continue;
    document->root().ForEachMember([&](std::string_view, JsonValue group) {
      const auto name = group["group_name"].AsString();
      if (!name || *name != "pp") return;
      size_t place = 0;
      group["global_ranks"].ForEachElement([&](JsonValue member) {
        const int64_t number = member.AsInt().value_or(-1);
        if (number >= 0 && !seen[number]) {
          seen[number] = true;
          by_place[place].push_back(number);
        }
        ++place;
      });
    });
  }
  std::vector<std::vector<int64_t>> out;
  for (auto& [place, stage] : by_place) {
    std::sort(stage.begin(), stage.end());
    if (stage.size() > 1) out.push_back(std::move(stage));
  }
  return out;
}

}  // namespace steplens::analysis
