#include <fmt/format.h>

#include <algorithm>
#include <map>

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
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace steplens::analysis
