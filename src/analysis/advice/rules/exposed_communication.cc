#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/advice/rules/rules.h"
#include "analysis/collectives/group_times.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

// The operation of a group that is exposed longest.
Place LongestExposed(const RankEvidence& rank, const Cover& exposed, const std::string& label) {
  const store::CommOpTable& ops = rank.store().comm_ops;
  std::map<StringId, bool> is_of_group;
  Place place{rank.rank(), {}, store::kNoSlice, ""};
  int64_t longest_ns = 0;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const Interval times{ops.begin_ns[i], EndNs(ops.begin_ns[i], ops.dur_ns[i])};
    const int64_t exposed_ns = exposed.Within(times);
    if (exposed_ns <= longest_ns) continue;
    const auto [group, is_new] = is_of_group.try_emplace(ops.group_name[i], false);
    if (is_new) group->second = GroupLabel(rank.store(), i) == label;
    if (!group->second) continue;
    longest_ns = exposed_ns;
    place.range = times;
    place.name = rank.store().Text(ops.name[i]);
  }
  return place;
}

// How much of the group's communication computing hides, in percent of its time in steps.
std::string HiddenPercent(const RankEvidence& rank, const std::string& label, int64_t exposed_ns) {
  const store::CommOpTable& ops = rank.store().comm_ops;
  std::map<StringId, bool> is_of_group;
  int64_t all_ns = 0;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (!rank.IsInSteps(ops.begin_ns[i])) continue;
    const auto [group, is_new] = is_of_group.try_emplace(ops.group_name[i], false);
    if (is_new) group->second = GroupLabel(rank.store(), i) == label;
    if (group->second) all_ns = AddNs(all_ns, ops.dur_ns[i]);
  }
  if (all_ns <= 0) return "0";
  const double exposed = static_cast<double>(exposed_ns) / static_cast<double>(all_ns);
  return fmt::format("{:.0f}", 100 * std::clamp(1 - exposed, 0.0, 1.0));
}

// The kernel after which nothing had to wait: the first one that computes once the operation ended.
std::string KernelBehind(const RankEvidence& rank, int64_t end_ns) {
  const store::KernelTable& kernels = rank.store().kernels;
  std::optional<uint32_t> next;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    if (kernels.begin_ns[i] == store::kNone || kernels.begin_ns[i] < end_ns) continue;
    if (next && kernels.begin_ns[i] >= kernels.begin_ns[*next]) continue;
    const std::string_view name = rank.store().Text(kernels.name[i]);
    if (IsCommunicationCore(rank.store().Text(kernels.core[i])) ||
        store::IsCommunicationKernel(name)) {
      continue;
    }
    next = i;
  }
  if (!next || !rank.IsInSteps(kernels.begin_ns[*next])) return "";
  return std::string(rank.store().Text(kernels.name[*next]));
}

}  // namespace

std::vector<Finding> FindExposedCommunication(const RankEvidence& rank) {
  const std::vector<Interval> exposed = rank.Exposed();
  if (exposed.empty()) return {};
  // Computing that does not hide communication yet could: more than that cannot be hidden.
  const StepTimes& times = rank.times();
  const int64_t can_hide_ns = std::max<int64_t>(0, times.computing_ns - times.overlapped_ns);
  std::vector<Finding> findings;
  const Cover cover(exposed);
  for (const GroupTime& group : GroupTimes(rank.job(), rank.store(), cover)) {
    const int64_t group_ns = std::min(group.total_ns, times.exposed_ns);
    if (!rank.IsNoticeable(group_ns)) continue;
    Message reason{"finding.exposed.reason", {{"percent", rank.Percent(group_ns)}}};
    if (group.model_wait_ns != store::kNone && group.idle_ns != store::kNone) {
      const int64_t waiting_ns = AddNs(group.model_wait_ns, group.idle_ns);
      reason = {"finding.exposed.waiting",
                {{"reason", reason}, {"time", SentenceTime(rank.PerStepUs(waiting_ns))}}};
    }
    Finding finding =
        rank.Make(RuleId::kExposedCommunication, {"finding.name", {{"name", group.label}}}, reason,
                  {"finding.exposed.advice"});
    finding.saving = rank.AtMost(group_ns, can_hide_ns);
    finding.confidence = Confidence::kEstimated;
    finding.places = {LongestExposed(rank, cover, group.label)};
    finding.evidence = {
        {{"evidence.exposed", {{"time", SentenceTime(rank.PerStepUs(group_ns))}}},
         fmt::format("SELECT step, communication_not_overlapped_ns FROM breakdown WHERE rank = {}",
                     rank.rank())},
        {{"evidence.can_hide", {{"time", SentenceTime(rank.PerStepUs(can_hide_ns))}}},
         fmt::format("SELECT step, computing_ns - overlapped_ns FROM breakdown WHERE rank = {}",
                     rank.rank())}};
    finding.evidence.push_back(
        {{"evidence.hidden",
          {{"percent", HiddenPercent(rank, group.label, group.total_ns)},
           {"name", finding.places[0].name}}},
         fmt::format("SELECT name, begin_ns, dur_ns FROM comm_ops WHERE rank = {} ORDER BY dur_ns "
                     "DESC",
                     rank.rank())});
    if (const std::string kernel = KernelBehind(rank, finding.places[0].range.end_ns);
        !kernel.empty()) {
      finding.evidence.push_back(
          {{"evidence.could_hide", {{"name", kernel}}},
           fmt::format("SELECT name, begin_ns, dur_ns FROM kernels WHERE rank = {} AND begin_ns >= "
                       "{} ORDER BY begin_ns",
                       rank.rank(), finding.places[0].range.end_ns)});
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace steplens::analysis
