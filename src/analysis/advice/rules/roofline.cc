#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/rule_tools.h"
#include "analysis/operators/device_peaks.h"
#include "analysis/operators/rooflines.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

constexpr double kLow = 0.5;           // of what the device could reach: good kernels are above
constexpr double kRooflineGap = 0.03;  // of the step

struct OpGap {
  int64_t device_ns = 0;
  double attainable_ns = 0;
  double flops = 0;
  int64_t count = 0;
  store::SliceId longest = store::kNoSlice;
  int64_t longest_ns = 0;
};

double AttainableNs(const store::TraceStore& store, const DevicePeaks& peaks, const CostedOp& op) {
  const double seconds = static_cast<double>(op.device_ns) / 1e9;
  const double peak = peaks.FlopsPerSecond(FirstTensorType(store, op.detail), op.cost.is_matrix,
                                           seconds > 0 ? op.cost.flops / seconds : 0);
  double least = std::isnan(peak) ? 0 : op.cost.flops / peak;
  if (!std::isnan(op.cost.bytes) && !std::isnan(peaks.bytes_per_s))
    least = std::max(least, op.cost.bytes / peaks.bytes_per_s);
  return least * 1e9;
}

// What the user says of the device wins over what its name says.
std::optional<DevicePeaks> PeaksOf(const RankEvidence& rank) {
  std::optional<DevicePeaks> peaks = FindDevicePeaks(rank.store());
  const RuleSettings& said = rank.settings();
  if (said.peak_flops_per_s <= 0 && said.bytes_per_s <= 0) return peaks;
  if (!peaks) peaks.emplace();
  if (said.peak_flops_per_s > 0)
    peaks->fp16 = peaks->fp8 = peaks->tf32 = peaks->fp32 = said.peak_flops_per_s;
  if (said.bytes_per_s > 0) peaks->bytes_per_s = said.bytes_per_s;
  return peaks;
}

}  // namespace

std::vector<Finding> FindRooflineGaps(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  const std::optional<DevicePeaks> peaks = PeaksOf(rank);
  if (!peaks) return {};
  const Cover steps = HostSteps(rank);
  std::map<StringId, OpGap> gaps;
  double flops = 0;
  for (const CostedOp& op : CollectCostedOps(store)) {
    const auto slice = static_cast<size_t>(op.slice);
    const int64_t begin_ns = store.slices.begin_ns[slice];
    if (steps.Within({begin_ns, AddNs(begin_ns, 1)}) == 0) continue;
    const double least_ns = AttainableNs(store, *peaks, op);
    flops += op.cost.flops;
    if (least_ns <= 0) continue;
    OpGap& gap = gaps[store.slices.name[slice]];
    gap.device_ns = AddNs(gap.device_ns, op.device_ns);
    gap.attainable_ns += least_ns;
    gap.flops += op.cost.flops;
    ++gap.count;
    if (op.device_ns > gap.longest_ns) {
      gap.longest_ns = op.device_ns;
      gap.longest = op.slice;
    }
  }
  std::vector<Finding> findings;
  for (const auto& [id, gap] : gaps) {
    const auto device_ns = static_cast<double>(gap.device_ns);
    const double lost_ns = device_ns - gap.attainable_ns;
    if (gap.longest == store::kNoSlice || gap.attainable_ns > kLow * device_ns ||
        lost_ns < kRooflineGap * static_cast<double>(rank.times().step_ns)) {
      continue;
    }
    const std::string name(store.Text(id));
    Finding finding =
        rank.Make(RuleId::kRoofline, {"finding.name", {{"name", name}}},
                  {"finding.roofline.reason",
                   {{"percent", fmt::format("{:.0f}", 100 * gap.attainable_ns / device_ns)}}},
                  {"finding.roofline.advice"});
    finding.saving = rank.AtMost(static_cast<int64_t>(lost_ns), rank.times().computing_ns);
    finding.confidence = Confidence::kHint;
    finding.places = {rank.PlaceOfSlice(gap.longest)};
    finding.evidence = {
        {{"evidence.reached",
          {{"count", std::to_string(gap.count)},
           {"time", SentenceTime(rank.PerStepUs(gap.device_ns))},
           {"tflops", fmt::format("{:.2f}", gap.flops / device_ns / 1000)}}},
         fmt::format("SELECT name, count(*), sum(dur_ns) FROM slices WHERE rank = {} AND name = "
                     "'{}' GROUP BY name",
                     rank.rank(), SqlText(name))},
        {{"evidence.step_flops",
          {{"tflops",
            fmt::format(
                "{:.2f}",
                flops / static_cast<double>(std::max<int64_t>(rank.times().step_ns, 1)) / 1000)}}},
         fmt::format("SELECT * FROM step_times WHERE rank = {}", rank.rank())}};
    if (peaks->fp16 > 0 && rank.times().step_ns > 0) {
      const double share = flops / (static_cast<double>(rank.times().step_ns) / 1e9) / peaks->fp16;
      finding.evidence.push_back(
          {{"evidence.mfu", {{"percent", fmt::format("{:.1f}", 100 * share)}}},
           fmt::format("SELECT * FROM step_times WHERE rank = {}", rank.rank())});
    }
    AddCallSite(rank, gap.longest, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace steplens::analysis
