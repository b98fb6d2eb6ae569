#include <fmt/format.h>

#include <algorithm>

#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/rule_tools.h"
#include "analysis/classify/text_memo.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

// Operators that give the same numbers in another type or layout.
bool IsConversion(std::string_view name) {
  return name == "aten::_to_copy" || name == "aten::contiguous" || name == "aten::to" ||
         name == "npu::npu_format_cast" || name == "ToCopyBackward0";
}

}  // namespace

std::vector<Finding> FindConversionOps(const RankEvidence& rank) {
  if (rank.is_ascend()) return {};  // its kernels tell: FindConversions
  const store::TraceStore& store = rank.store();
  const bool is_host_only = rank.is_on_host();
  TextMemo is_conversion(store, IsConversion);
  const Cover steps = HostSteps(rank);
  std::vector<store::SliceId> found;
  int64_t sum_ns = 0;
  const HostOp* longest = nullptr;
  const auto cost_ns = [&](const HostOp& op) {
    return is_host_only ? op.host_total_ns : op.device_total_ns;
  };
  for (const HostOp& op : rank.host_ops().ops) {
    const auto slice = static_cast<size_t>(op.slice);
    if (!is_conversion(store.slices.name[slice]) || cost_ns(op) <= 0) continue;
    const bool is_inner = op.parent != store::kNoSlice &&
                          is_conversion(store.slices.name[static_cast<size_t>(op.parent)]);
    const int64_t begin_ns = store.slices.begin_ns[slice];
    if (is_inner || steps.Within({begin_ns, AddNs(begin_ns, 1)}) == 0) continue;
    // Copies from the host to the device and back are no conversions.
    if (!is_host_only && op.device_self_ns + op.device_total_ns == 0) continue;
    found.push_back(op.slice);
    sum_ns = AddNs(sum_ns, cost_ns(op));
    if (longest == nullptr || cost_ns(op) > cost_ns(*longest)) longest = &op;
  }
  if (!rank.IsNoticeable(sum_ns)) return {};
  std::sort(found.begin(), found.end());
  Finding finding = rank.Make(RuleId::kConversionOps, {"finding.conversion_ops"},
                              {"finding.conversion.reason", {{"percent", rank.Percent(sum_ns)}}},
                              {"finding.conversion_ops.advice"});
  finding.saving = rank.AtMost(sum_ns, rank.times().step_ns);
  finding.confidence = Confidence::kEstimated;
  finding.places = {rank.PlaceOfSlice(longest->slice)};
  finding.evidence = {
      {{"evidence.slices", {{"count", std::to_string(found.size())}}},
       fmt::format("SELECT name, count(*), sum(dur_ns) FROM slices WHERE rank = {} AND name IN "
                   "('aten::_to_copy', 'aten::to', 'aten::contiguous') GROUP BY name",
                   rank.rank())}};
  AddCallSite(rank, longest->slice, finding);
  finding.change = RemoveWork(rank, found, LaunchedBy(rank, found));
  return {finding};
}

}  // namespace steplens::analysis
