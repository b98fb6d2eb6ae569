#include <algorithm>
#include <array>

#include "analysis/advice/rule.h"
#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/rules.h"

namespace steplens::analysis {
namespace {

using enum RuleScope;
using enum RuleNeeds;

// In the order of RuleId; docs/metrics.md, "Findings", has a line on each.
// The dimensions of the advisor.
constexpr auto kEver = AdviceDimension::kAll;
constexpr auto kCompute = AdviceDimension::kComputation;
constexpr auto kHost = AdviceDimension::kSchedule;

// In the order of RuleId; docs/advisor.md has a row on each.
constexpr std::array kRules = {
    RuleSpec{RuleId::kLateRank, "late_rank", kJob, kNothing},
    RuleSpec{RuleId::kLateGroup, "late_group", kJob, kNothing},
    RuleSpec{RuleId::kUnevenLoad, "uneven_load", kJob, kNothing},
    RuleSpec{RuleId::kSlowLink, "slow_link", kJob, kNothing, nullptr, kEver, kSeesComm},
    RuleSpec{RuleId::kSmallPackets, "small_packets", kJob, kNothing, nullptr, kEver, kSeesComm,
             RuleRisk::kMemory},
    RuleSpec{RuleId::kExposedCommunication, "exposed_communication", kRank, kNothing,
             FindExposedCommunication, kEver, kSeesAnything, RuleRisk::kMemory},
    RuleSpec{RuleId::kConversion, "conversion", kRank, kAscend, FindConversions, kCompute,
             kSeesKernels, RuleRisk::kNumerics},
    RuleSpec{RuleId::kHostBound, "host_bound", kRank, kNothing, FindHostBound, kHost, kSeesHost},
    RuleSpec{RuleId::kDependency, "dependency", kRank, kNothing, FindDependencies, kHost,
             kSeesHost},
    RuleSpec{RuleId::kLaunch, "launch", kRank, kNothing, FindLongLaunches, kHost, kSeesHost},
    RuleSpec{RuleId::kUnsteadyKernel, "unsteady_kernel", kRank, kNothing, FindUnsteadyKernels,
             kCompute, kSeesKernels | kSeesShapes},
    RuleSpec{RuleId::kAicpu, "aicpu", kRank, kAscend, FindAicpuOperators, kCompute, kSeesKernels,
             RuleRisk::kNumerics},
    RuleSpec{RuleId::kFrequency, "frequency", kRank, kAscend, FindFrequencyDrops, kCompute},
    RuleSpec{RuleId::kFusion, "fusion", kRank, kAscend, FindFusions, kCompute, kSeesKernels,
             RuleRisk::kNumerics},
    RuleSpec{RuleId::kAffinityApi, "affinity_api", kRank, kTorchNpu, FindAffinityApis, kHost,
             kSeesHost | kSeesStacks, RuleRisk::kNumerics},
    RuleSpec{RuleId::kAffinityOptimizer, "affinity_optimizer", kRank, kTorchNpu,
             FindAffinityOptimizers, kHost, kSeesHost, RuleRisk::kNumerics},
    RuleSpec{RuleId::kDispatch, "dispatch", kRank, kTorchNpu, FindCompilations, kHost, kSeesCann},
    RuleSpec{RuleId::kByteAlignment, "byte_alignment", kRank, kAscend, FindUnalignedTransfers,
             kEver, kSeesComm},
    RuleSpec{RuleId::kContention, "contention", kRank, kAscend, FindContention, kEver,
             kSeesComm | kSeesKernels},
    RuleSpec{RuleId::kRetransmission, "retransmission", kRank, kAscend, FindRetransmissions, kEver,
             kSeesComm},
    // What the advisor asks besides.
    RuleSpec{RuleId::kOverall, "overall", kRank, kNothing, SummariseOverall},
    RuleSpec{RuleId::kEnvironment, "environment", kRank, kNoOther, CheckEnvironment, kEver,
             kSeesEnvironment, RuleRisk::kNone, CompareEnvironments},
    RuleSpec{RuleId::kSlowRank, "slow_rank", kJob, kNothing},
    RuleSpec{RuleId::kLinkBandwidth, "link_bandwidth", kJob, kNothing, nullptr, kEver, kSeesComm},
    RuleSpec{RuleId::kStageCompute, "stage_compute", kJob, kNothing, nullptr, kCompute},
    RuleSpec{RuleId::kPacket, "packet", kRank, kAscend, FindSmallPackets, kEver, kSeesComm,
             RuleRisk::kMemory},
    RuleSpec{RuleId::kMemoryCalls, "memory_calls", kRank, kAscend, FindMemoryCalls, kEver,
             kSeesCann, RuleRisk::kMemory},
    RuleSpec{RuleId::kDynamicShape, "dynamic_shape", kRank, kTorchNpu, FindDynamicShapes, kCompute,
             kSeesKernels},
    RuleSpec{RuleId::kBlockDim, "block_dim", kRank, kAscend, FindUnfilledCores, kCompute,
             kSeesKernels},
    RuleSpec{RuleId::kNoBound, "no_bound", kRank, kAscend, FindUnboundKernels, kCompute,
             kSeesKernels | kSeesMetrics},
    RuleSpec{RuleId::kCorePerformance, "core_performance", kRank, kAscend, JudgeCorePerformance,
             kCompute, kSeesKernels | kSeesShapes | kSeesMetrics},
    RuleSpec{RuleId::kGraphFusion, "graph_fusion", kRank, kNothing, MatchFusionPasses, kCompute},
    RuleSpec{RuleId::kSdmaCopy, "sdma_copy", kRank, kAscend, FindSdmaCopies, kCompute},
    RuleSpec{RuleId::kSyncStream, "sync_stream", kRank, kAscend, FindStreamSyncs, kHost, kSeesCann},
    RuleSpec{RuleId::kSyncBn, "syncbn", kRank, kNothing, FindSyncBatchNorms, kHost, kSeesHost,
             RuleRisk::kNumerics},
    RuleSpec{RuleId::kGc, "gc", kRank, kNothing, FindCollections, kHost},
    RuleSpec{RuleId::kConjecturedGc, "conjectured_gc", kRank, kAscend, FindConjecturedGc, kHost,
             kSeesCann},
    RuleSpec{RuleId::kDataloader, "dataloader", kRank, kNothing, FindSlowLoading, kHost, kSeesHost},
    RuleSpec{RuleId::kFusibleOps, "fusible_ops", kRank, kAscend, FindFusibleSequences, kCompute,
             kSeesKernels | kSeesMetrics},
    RuleSpec{RuleId::kComparison, "comparison", kJob, kNothing},

    // Beyond: what replays and whole jobs tell.
    RuleSpec{RuleId::kDataHygiene, "data_hygiene", kRank, kNothing, FindDataHygiene},
    RuleSpec{RuleId::kRoofline, "roofline", kRank, kNothing, FindRooflineGaps, kCompute,
             kSeesHost | kSeesShapes},
    RuleSpec{RuleId::kLaunchBound, "launch_bound", kRank, kNothing, FindLaunchBound, kHost,
             kSeesHost},
    RuleSpec{RuleId::kHostSync, "host_sync", kRank, kNothing, FindHostSyncs, kHost, kSeesHost},
    RuleSpec{RuleId::kConversionOps, "conversion_ops", kRank, kNothing, FindConversionOps, kCompute,
             kSeesHost, RuleRisk::kNumerics},
    RuleSpec{RuleId::kPipelineBubble, "pipeline_bubble", kJob, kNothing, nullptr, kEver,
             kSeesAnything, RuleRisk::kNone, ComparePipelines},
    RuleSpec{RuleId::kSmallCollectives, "small_collectives", kRank, kNothing, FindSmallCollectives,
             kEver, kSeesAnything, RuleRisk::kMemory},
    RuleSpec{RuleId::kCollectiveIdle, "collective_idle", kRank, kAscend, FindIdleCollectives, kEver,
             kSeesComm},
    RuleSpec{RuleId::kMemoryGrowth, "memory_growth", kRank, kNothing, FindMemoryGrowth},
    RuleSpec{RuleId::kFragmentation, "fragmentation", kRank, kNothing, FindFragmentation},
    RuleSpec{RuleId::kAllocatorCalls, "allocator_calls", kRank, kNothing, FindAllocatorCalls, kHost,
             kSeesAnything, RuleRisk::kMemory},
    RuleSpec{RuleId::kStepJitter, "step_jitter", kRank, kNothing, FindStepJitter, kHost},
    RuleSpec{RuleId::kExpertBalance, "expert_balance", kJob, kNothing, nullptr, kCompute,
             kSeesKernels | kSeesShapes, RuleRisk::kNone, CompareExperts},
    RuleSpec{RuleId::kKernelDrift, "kernel_drift", kJob, kNothing, nullptr, kCompute, kSeesKernels,
             RuleRisk::kNone, CompareKernels},
    RuleSpec{RuleId::kRecompute, "recompute", kRank, kNothing, FindRecomputing, kCompute, kSeesHost,
             RuleRisk::kMemory},
    RuleSpec{RuleId::kCpuContention, "cpu_contention", kRank, kNothing, FindCpuContention, kHost,
             kSeesHost},
};

static_assert([] {
  for (size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<size_t>(kRules[i].id) != i) return false;
  }
  return true;
}());

// Where to look at what a finding says of the whole: the first step, or all that was recorded.
std::vector<Place> PlacesOfAll(const RankEvidence& rank) {
  const std::vector<StepRange>& steps = rank.view().steps();
  const store::Extent all = store::ComputeExtent(rank.store());
  const Interval range = steps.empty()
                             ? Interval{all.begin_ns, all.end_ns}
                             : Interval{steps.front().host_begin_ns, steps.front().host_end_ns};
  if (range.end_ns <= range.begin_ns) return {};
  return {rank.PlaceOf(range)};
}

}  // namespace

std::span<const RuleSpec> Rules() { return kRules; }

bool MeetsNeeds(RuleNeeds needs, const RankEvidence& rank) {
  switch (needs) {
    case kNothing:
      return true;
    case kAscend:
      return rank.is_ascend();
    case kTorchNpu:
      return rank.is_torch_npu();
    case kNoOther:
      return rank.may_be_ascend();
  }
  return false;
}

const RuleSpec& RuleOf(RuleId rule) { return kRules[static_cast<size_t>(rule)]; }

std::string_view RuleName(RuleId rule) { return RuleOf(rule).name; }

std::string_view RiskName(RuleRisk risk) {
  switch (risk) {
    case RuleRisk::kNone:
      return "none";
    case RuleRisk::kNumerics:
      return "numerics";
    case RuleRisk::kMemory:
      return "memory";
  }
  return "";
}

std::vector<Finding> Advise(const RankEvidence& rank) {
  std::vector<Finding> findings;
  for (const RuleSpec& rule : kRules) {
    if (rule.find == nullptr || !MeetsNeeds(rule.needs, rank)) continue;
    if (rank.settings().disabled.contains(rule.name)) continue;
    for (Finding& finding : rule.find(rank)) findings.push_back(std::move(finding));
  }
  for (Finding& finding : findings) {
    if (finding.places.empty()) finding.places = PlacesOfAll(rank);
  }
  SortBySaving(findings);
  return findings;
}

std::vector<Finding> AdviseJob(std::span<const RankEvidence> ranks) {
  std::vector<Finding> findings;
  if (ranks.size() < 2) return findings;
  for (const RuleSpec& rule : kRules) {
    if (rule.compare == nullptr || !MeetsNeeds(rule.needs, ranks.front())) continue;
    if (ranks.front().settings().disabled.contains(rule.name)) continue;
    for (Finding& finding : rule.compare(ranks)) findings.push_back(std::move(finding));
  }
  return findings;
}

void SortBySaving(std::vector<Finding>& findings) {
  const auto saving_ms = [](const Finding& one) {
    return one.saving && !one.is_hidden ? one.saving->Best() : -1;
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return saving_ms(a) > saving_ms(b); });
}

}  // namespace steplens::analysis
