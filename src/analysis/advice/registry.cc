#include <algorithm>
#include <array>

#include "analysis/advice/rule.h"
#include "analysis/advice/rules/rules.h"

namespace steplens::analysis {
namespace {

using enum RuleScope;
using enum RuleNeeds;

// In the order of RuleId; docs/metrics.md, "Findings", has a line on each.
constexpr std::array kRules = {
    RuleSpec{RuleId::kLateRank, "late_rank", kJob, kNothing},
    RuleSpec{RuleId::kLateGroup, "late_group", kJob, kNothing},
    RuleSpec{RuleId::kUnevenLoad, "uneven_load", kJob, kNothing},
    RuleSpec{RuleId::kSlowLink, "slow_link", kJob, kNothing},
    RuleSpec{RuleId::kSmallPackets, "small_packets", kJob, kNothing},
    RuleSpec{RuleId::kExposedCommunication, "exposed_communication", kRank, kNothing,
             FindExposedCommunication},
    RuleSpec{RuleId::kConversion, "conversion", kRank, kAscend, FindConversions},
    RuleSpec{RuleId::kHostBound, "host_bound", kRank, kNothing, FindHostBound},
    RuleSpec{RuleId::kDependency, "dependency", kRank, kNothing, FindDependencies},
    RuleSpec{RuleId::kLaunch, "launch", kRank, kNothing, FindLongLaunches},
    RuleSpec{RuleId::kUnsteadyKernel, "unsteady_kernel", kRank, kNothing, FindUnsteadyKernels},
    RuleSpec{RuleId::kAicpu, "aicpu", kRank, kAscend, FindAicpuOperators},
    RuleSpec{RuleId::kFrequency, "frequency", kRank, kAscend, FindFrequencyDrops},
    RuleSpec{RuleId::kFusion, "fusion", kRank, kAscend, FindFusions},
    RuleSpec{RuleId::kAffinityApi, "affinity_api", kRank, kTorchNpu, FindAffinityApis},
    RuleSpec{RuleId::kAffinityOptimizer, "affinity_optimizer", kRank, kTorchNpu,
             FindAffinityOptimizers},
    RuleSpec{RuleId::kDispatch, "dispatch", kRank, kTorchNpu, FindCompilations},
    RuleSpec{RuleId::kByteAlignment, "byte_alignment", kRank, kAscend, FindUnalignedTransfers},
    RuleSpec{RuleId::kContention, "contention", kRank, kAscend, FindContention},
    RuleSpec{RuleId::kRetransmission, "retransmission", kRank, kAscend, FindRetransmissions},
};

static_assert([] {
  for (size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<size_t>(kRules[i].id) != i) return false;
  }
  return true;
}());

bool MeetsNeeds(RuleNeeds needs, const RankEvidence& rank) {
  switch (needs) {
    case kNothing:
      return true;
    case kAscend:
      return rank.platform() == Platform::kAscend;
    case kTorchNpu:
      return rank.is_torch_npu();
  }
  return false;
}

}  // namespace

std::span<const RuleSpec> Rules() { return kRules; }

std::string_view RuleName(RuleId rule) { return kRules[static_cast<size_t>(rule)].name; }

std::vector<Finding> Advise(const RankEvidence& rank) {
  std::vector<Finding> findings;
  for (const RuleSpec& rule : kRules) {
    if (rule.find == nullptr || !MeetsNeeds(rule.needs, rank)) continue;
    for (Finding& finding : rule.find(rank)) findings.push_back(std::move(finding));
  }
  SortBySaving(findings);
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
