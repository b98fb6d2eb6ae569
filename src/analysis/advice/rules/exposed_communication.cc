#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "analysis/advice/rules/rule_tools.h"
#include "analysis/advice/rules/rules.h"
#include "analysis/classify/device_work.h"
#include "analysis/classify/text_memo.h"
#include "analysis/collectives/group_times.h"
#include "analysis/steps/steps.h"
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

// Collectives that computing could run beside: the first work behind one is not the optimizer's,
// which needs what all of them bring. Without marks of the optimizer the last collective of a step
// is the one that it needs.
class Hideable {
 public:
  explicit Hideable(const RankEvidence& rank) : rank_(rank), steps_(rank.view().steps()) {
    const store::TraceStore& store = rank.store();
    std::vector<store::SliceId> optimizers;
    TextMemo is_optimizer(store,
                          [](std::string_view name) { return name.starts_with("Optimizer.step"); });
    for (size_t s = 0; s < store.slices.size(); ++s) {
      if (is_optimizer(store.slices.name[s])) optimizers.push_back(static_cast<store::SliceId>(s));
    }
    knows_optimizer_ = !optimizers.empty();
    const bool is_on_host = rank.platform() == Platform::kHostOnly;
    for (const store::SliceId slice : is_on_host ? optimizers : LaunchedBy(rank, optimizers))
      of_optimizer_.push_back(rank.PlaceOfSlice(slice).range);
    std::sort(of_optimizer_.begin(), of_optimizer_.end(),
              [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
    for (const DeviceWork& device : CollectDeviceWork(store)) {
      for (const Interval& work : device.compute) work_ns_.push_back(work.begin_ns);
    }
    std::sort(work_ns_.begin(), work_ns_.end());
    const store::CommOpTable& ops = store.comm_ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      int64_t& last_ns = last_end_ns_[StepAt(ops.begin_ns[i])];
      last_ns = std::max(last_ns, EndNs(ops.begin_ns[i], ops.dur_ns[i]));
    }
  }

  // Whether it is known what the device computes.
  bool knows_work() const { return !work_ns_.empty(); }

  bool Holds(size_t comm_op) {
    const store::CommOpTable& ops = rank_.store().comm_ops;
    const int64_t end_ns = EndNs(ops.begin_ns[comm_op], ops.dur_ns[comm_op]);
    const size_t step = StepAt(ops.begin_ns[comm_op]);
    const auto next = std::lower_bound(work_ns_.begin(), work_ns_.end(), end_ns);
    if (next == work_ns_.end() || IsOfOptimizer(*next) || StepAt(*next) != step) return false;
    return knows_optimizer_ || last_end_ns_.at(step) > end_ns;
  }

 private:
  size_t StepAt(int64_t ts_ns) { return steps_.IndexOf(ts_ns); }

  bool IsOfOptimizer(int64_t ts_ns) const {
    const auto after =
        std::upper_bound(of_optimizer_.begin(), of_optimizer_.end(), ts_ns,
                         [](int64_t at_ns, const Interval& work) { return at_ns < work.begin_ns; });
    return after != of_optimizer_.begin() && std::prev(after)->end_ns > ts_ns;
  }

  const RankEvidence& rank_;
  StepFinder steps_;
  bool knows_optimizer_ = false;
  std::vector<Interval> of_optimizer_;     // its work, by begin
  std::vector<int64_t> work_ns_;           // when each computation began
  std::map<size_t, int64_t> last_end_ns_;  // of the collectives of each step
};

// Activations travel between the operators of a layer: the next one needs what they bring.
bool BringsActivations(std::string_view label) {
  for (const std::string_view kind : {"tp", "cp", "sp", "pp", "ep", "exp", "moe"}) {
    if (label.starts_with(kind) && label.size() > kind.size() &&
        (label[kind.size()] == ':' || label[kind.size()] == '_')) {
      return true;
    }
  }
  return false;
}

// Computing does not wait for the collectives of the group that it could run beside; nothing if it
// is not known what the device computes.
std::optional<Edit> OverlapOf(const RankEvidence& rank, Hideable& hideable,
                              const std::string& label) {
  if (!hideable.knows_work()) return std::nullopt;
  const store::CommOpTable& ops = rank.store().comm_ops;
  Edit edit{.action = Edit::Action::kOverlap};
  edit.selector.part = EditSelector::Part::kComm;
  edit.selector.rank = rank.rank();
  const bool is_needed_at_once = BringsActivations(label);
  for (uint32_t i = 0; i < ops.size() && !is_needed_at_once; ++i) {
    if (GroupLabel(rank.store(), i) == label && rank.IsInSteps(ops.begin_ns[i]) &&
        hideable.Holds(i)) {
      edit.selector.comm_ops.push_back(i);
    }
  }
  // None can hide: the edit is about a row that is not there, not about all collectives.
  if (edit.selector.comm_ops.empty()) edit.selector.comm_ops = {store::kNoId};
  return edit;
}

}  // namespace

std::vector<Finding> FindExposedCommunication(const RankEvidence& rank) {
  const std::vector<Interval> exposed = rank.Exposed();
  if (exposed.empty()) return {};
  // Computing that does not hide communication yet could: more than that cannot be hidden.
  const StepTimes& times = rank.times();
  const int64_t can_hide_ns = std::max<int64_t>(0, times.computing_ns - times.overlapped_ns);
  std::vector<Finding> findings;
  std::optional<Hideable> hideable;
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
    if (!hideable) hideable.emplace(rank);
    if (std::optional<Edit> overlap = OverlapOf(rank, *hideable, group.label))
      finding.change = {std::move(*overlap)};
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
