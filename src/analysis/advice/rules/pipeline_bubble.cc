#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/advice/rules/beyond.h"
#include "analysis/breakdown/breakdown.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

constexpr double kMuchMore = 1.3;  // than the schedule must have

struct Pipeline {
  int64_t stages = 1;
  double micro_batches = 0;
  double bubble = 0;                              // share of the step, the mean of the ranks
  std::map<int64_t, std::vector<double>> work{};  // by stage: computing of its ranks, ms per step
};

double BubbleShare(const RankEvidence& rank) {
  int64_t bubble_ns = 0;
  int64_t all_ns = 0;
  for (const StepParts& step : BreakDown(rank.view())) {
    if (step.bubble_ns == store::kNone || step.stage_ns == store::kNone) continue;
    bubble_ns = AddNs(bubble_ns, step.bubble_ns);
    all_ns = AddNs(all_ns, AddNs(step.stage_ns, step.bubble_ns));
  }
  return all_ns > 0 ? static_cast<double>(bubble_ns) / static_cast<double>(all_ns) : 0;
}

// Receives per step: of a stage in the middle two per micro batch (an activation, a gradient), of
// the first and the last one.
double ReceivesPerStep(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  double receives = 0;
  for (size_t i = 0; i < store.comm_ops.size(); ++i) {
    const std::string_view name = store.Text(store.comm_ops.name[i]);
    if (name.find("eceive") != std::string_view::npos && rank.IsInSteps(store.comm_ops.begin_ns[i]))
      ++receives;
  }
  return receives / static_cast<double>(rank.times().steps);
}

std::optional<Pipeline> ReadPipeline(std::span<const RankEvidence> ranks) {
  std::string problem;
  const auto layout =
      cluster::ParseLayout(cluster::DescribeRank(ranks.front().store()).distributed_args, problem);
  if (!layout || layout->pp < 2) return std::nullopt;
  Pipeline out{.stages = layout->pp};
  for (const RankEvidence& rank : ranks) {
    const int64_t stage = cluster::CoordinatesOf(*layout, rank.rank()).pp;
    const bool is_inner = stage > 0 && stage + 1 < layout->pp;
    out.micro_batches = std::max(out.micro_batches, ReceivesPerStep(rank) / (is_inner ? 2 : 1));
    out.bubble += BubbleShare(rank) / static_cast<double>(ranks.size());
    out.work[stage].push_back(rank.PerStepUs(rank.times().computing_ns) / 1000);
  }
  if (out.micro_batches < 1) return std::nullopt;
  return out;
}

// The stage that computes longest, and how many times the mean that is.
std::pair<int64_t, double> Imbalance(const Pipeline& pipeline) {
  double sum = 0;
  std::pair<int64_t, double> most{0, 0};
  for (const auto& [stage, times] : pipeline.work) {
    double mean = 0;
    for (const double time : times) mean += time / static_cast<double>(times.size());
    sum += mean;
    if (mean > most.second) most = {stage, mean};
  }
  const double mean = sum / static_cast<double>(pipeline.work.size());
  return {most.first, mean > 0 ? most.second / mean : 1};
}

}  // namespace

// A pipeline of p stages and m micro batches must idle for (p - 1) / (m + p - 1) of its step.
std::vector<Finding> ComparePipelines(std::span<const RankEvidence> ranks) {
  const std::optional<Pipeline> pipeline = ReadPipeline(ranks);
  if (!pipeline) return {};
  const auto p = static_cast<double>(pipeline->stages);
  const double least = (p - 1) / (pipeline->micro_batches + p - 1);
  const RankEvidence& rank = ranks.front();
  const auto lost_ns =
      static_cast<int64_t>((pipeline->bubble - least) * static_cast<double>(rank.times().step_ns));
  if (pipeline->bubble < kMuchMore * least || !rank.IsNoticeable(lost_ns)) return {};
  const auto [stage, ratio] = Imbalance(*pipeline);
  Finding finding = rank.Make(RuleId::kPipelineBubble,
                              {"finding.pipeline", {{"stages", std::to_string(pipeline->stages)}}},
                              {"finding.pipeline.reason",
                               {{"percent", fmt::format("{:.1f}", 100 * pipeline->bubble)},
                                {"least", fmt::format("{:.1f}", 100 * least)},
                                {"batches", fmt::format("{:.0f}", pipeline->micro_batches)}}},
                              {"finding.pipeline.advice"});
  finding.ranks.clear();
  for (const RankEvidence& one : ranks) finding.ranks.push_back(one.rank());
  finding.saving = rank.AtMost(lost_ns, rank.times().step_ns);
  finding.confidence = Confidence::kEstimated;
  finding.effort = Effort::kSetting;
  finding.evidence = {
      {{"evidence.stage",
        {{"stage", std::to_string(stage)}, {"ratio", fmt::format("{:.2f}", ratio)}}},
       "SELECT rank, avg(computing_ns), avg(bubble_ns) FROM breakdown GROUP BY rank"}};
  return {finding};
}

}  // namespace steplens::analysis
