#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/advice/rules/rules.h"
#include "analysis/cluster/spread.h"
#include "analysis/kernels/kernel_rows.h"
#include "analysis/sql_text.h"

namespace steplens::analysis {
namespace {

constexpr double kMuch = 1.5;      // the slowest calls against the median
constexpr double kWorthIt = 0.02;  // of the step time
constexpr int64_t kFewestCalls = 4;

struct SameKernels {
  cluster::Spread durations;
  uint32_t longest = 0;
};

}  // namespace

std::vector<Finding> FindUnsteadyKernels(const RankEvidence& rank) {
  if (rank.is_on_host()) return {};  // whoever else uses the cores is in these times
  const store::TraceStore& store = rank.store();
  const store::KernelTable& kernels = store.kernels;
  std::map<std::pair<StringId, StringId>, SameKernels> groups;  // by name and shapes
  for (const uint32_t i : SelectKernels(store, {}, [&](size_t row) {
         return kernels.input_shapes[row] != StringId::kEmpty &&
                rank.IsInSteps(kernels.begin_ns[row]);
       })) {
    SameKernels& same = groups[{kernels.name[i], kernels.input_shapes[i]}];
    if (same.durations.count() == 0 || kernels.dur_ns[i] > kernels.dur_ns[same.longest])
      same.longest = i;
    same.durations.Add(kernels.dur_ns[i]);
  }
  std::vector<Finding> findings;
  for (const auto& [key, same] : groups) {
    const double median_ns = same.durations.Quantile(0.5);
    if (same.durations.count() < kFewestCalls || median_ns <= 0) continue;
    const double ratio = same.durations.Quantile(0.99) / median_ns;
    const auto extra_ns =
        static_cast<int64_t>(static_cast<double>(same.durations.sum_ns()) -
                             static_cast<double>(same.durations.count()) * median_ns);
    if (ratio < kMuch || extra_ns <= 0 ||
        static_cast<double>(extra_ns) < kWorthIt * static_cast<double>(rank.times().step_ns)) {
      continue;
    }
    const std::string name(store.Text(key.first));
    Finding finding =
        rank.Make(RuleId::kUnsteadyKernel, {"finding.name", {{"name", name}}},
                  {"finding.unsteady.reason", {{"ratio", fmt::format("{:.1f}", ratio)}}},
                  {"finding.unsteady.advice"});
    finding.saving = rank.AtMost(extra_ns, rank.times().computing_ns);
    finding.confidence = Confidence::kHint;
    finding.places = {rank.PlaceOfKernel(same.longest)};
    finding.evidence = {
        {{"evidence.kernels",
          {{"count", std::to_string(same.durations.count())},
           {"time", SentenceTime(rank.PerStepUs(same.durations.sum_ns()))}}},
         fmt::format("SELECT * FROM kernels WHERE rank = {} AND name = '{}' ORDER BY dur_ns DESC",
                     rank.rank(), SqlText(name))}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace steplens::analysis
