#include <fmt/format.h>

#include "analysis/advice/rules/rules.h"
#include "analysis/kernels/kernel_paths.h"
#include "analysis/time_math.h"

namespace steplens::analysis {

std::vector<Finding> FindConversions(const RankEvidence& rank) {
  const store::KernelTable& kernels = rank.store().kernels;
  const KernelPaths paths = ClassifyKernels(rank.store());
  int64_t sum_ns = 0;
  size_t count = 0;
  uint32_t longest = 0;
  for (uint32_t i = 0; i < paths.of_kernel.size(); ++i) {
    const KernelPath& path = paths.of_kernel[i];
    if (path.kind != KernelClass::kOtherVector || !path.is_trans) continue;
    if (kernels.begin_ns[i] == store::kNone || kernels.dur_ns[i] == store::kNone) continue;
    if (!rank.IsInSteps(kernels.begin_ns[i])) continue;
    if (count++ == 0 || kernels.dur_ns[i] > kernels.dur_ns[longest]) longest = i;
    sum_ns = AddNs(sum_ns, kernels.dur_ns[i].value());
  }
  if (!rank.IsNoticeable(sum_ns)) return {};
  Finding finding = rank.Make(RuleId::kConversion, {"finding.conversion"},
                              {"finding.conversion.reason", {{"percent", rank.Percent(sum_ns)}}},
                              {"finding.conversion.advice"});
  finding.saving = rank.AtMost(sum_ns, rank.times().computing_ns);
  finding.confidence = Confidence::kEstimated;
  finding.places = {rank.PlaceOfKernel(longest)};
  finding.evidence = {
      {{"evidence.kernels",
        {{"count", std::to_string(count)}, {"time", SentenceTime(rank.PerStepUs(sum_ns))}}},
       fmt::format("SELECT * FROM kernels WHERE rank = {} AND (type LIKE '%Cast%' "
                   "OR type LIKE '%Trans%')",
                   rank.rank())}};
  return {finding};
}

}  // namespace steplens::analysis
