#include "analysis/cluster/recipes/comm_calls.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/step_window.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis::cluster {

std::vector<CommCall> CollectCommCalls(const store::TraceStore& rank, const RankFacts& facts,
                                       const HostCalls& host, const Options& options) {
  const GroupIds ids(facts);
  const StepWindow window = FindStepWindow(rank, options);
  std::vector<CommCall> calls;
  const store::CommOpTable& ops = rank.comm_ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!IsPlausible(ops.begin_ns[i], EndNs(ops.begin_ns[i], ops.dur_ns[i]))) continue;
    int64_t launch_ns = host.StartOf(ops.correlation[i]);
    if (launch_ns == store::kNone) {
      if (options.compat) continue;
      launch_ns = ops.begin_ns[i];
    }
    if (!window.Contains(launch_ns)) continue;
    calls.push_back(
        {ids.Find(std::string(rank.Text(ops.group_name[i]))), std::string(rank.Text(ops.name[i])),
         host.StepAt(launch_ns).value_or(store::kNone), ops.begin_ns[i], ops.dur_ns[i]});
  }
  return calls;
}

GroupIds::GroupIds(const RankFacts& facts) {
  for (const GroupFact& group : facts.groups) ids_[GroupName(group.id)] = group.id;
}

const std::string& GroupIds::Find(const std::string& group) const {
  const auto found = ids_.find(group);
  return found == ids_.end() ? group : found->second;
}

const std::string& GroupSpellings::Find(const std::string& group) {
  const auto known = first_.find(group);
  if (known != first_.end()) return known->second;
  const std::string first = first_.try_emplace(GroupName(group), group).first->second;
  return first_.try_emplace(group, first).first->second;
}

std::vector<CommCall> CommCallsOfResults(const store::TraceStore& rank, const RankFacts& facts,
                                         const Options& options) {
  const GroupIds ids(facts);
  const store::CommTimeTable& times = rank.comm_times;
  std::vector<CommCall> calls;
  for (size_t i = 0; i < times.size(); ++i) {
    const std::string_view name = rank.Text(times.op_name[i]);
    std::string_view step = rank.Text(times.step[i]);
    if (name.starts_with("Total") || !IsWantedStep(step, options)) continue;
    if (step.starts_with("step")) step.remove_prefix(4);
    calls.push_back({ids.Find(std::string(rank.Text(times.group_name[i]))), std::string(name),
                     ParseInt64(step).value_or(kNoStep),
                     std::llround(KnownOrZero(times.start_us[i]) * 1e3),
                     std::llround(KnownOrZero(times.elapse_ms[i]) * 1e6)});
  }
  return calls;
}

bool IsPointToPoint(std::string_view op_name) {
  return op_name.find("send") != op_name.npos || op_name.find("receive") != op_name.npos;
}

std::map<std::string, size_t> SizesByMetadata(const RankFacts& facts) {
  std::map<std::string, size_t> sizes;
  for (const GroupFact& group : facts.groups) {
    if (!group.ranks.empty()) sizes[group.id] = group.ranks.size();
  }
  return sizes;
}

int64_t PartlyCapturedCalls::MembersOf(const std::string& group) const {
  return sizes_.Of(GroupName(group));
}

bool PartlyCapturedCalls::Count(const std::string& group, size_t captured) {
  const int64_t members = MembersOf(group);
  const auto seen = static_cast<int64_t>(captured);
  if (members == 0 && captured > 1) ++unknown_;
  if (members <= seen) return false;
  ++calls_;
  if (members_ == 0 || seen < captured_) {
    captured_ = seen;
    members_ = members;
  }
  return true;
}

void PartlyCapturedCalls::AddNotes(std::vector<std::string>& notes) const {
  if (calls_ > 0) {
    notes.push_back(fmt::format(
        "nobody is blamed for {} {}: ranks of the group are not among the captures ({} of {} ranks "
        "captured), and the last to arrive may be one of them",
        calls_, calls_ == 1 ? "call" : "calls", captured_, members_));
  }
  if (unknown_ > 0) {
    notes.push_back(fmt::format(
        "the captures do not say how many ranks the groups of {} {} have: a rank that was not "
        "captured may have come last",
        unknown_, unknown_ == 1 ? "call" : "calls"));
  }
}

}  // namespace steplens::analysis::cluster
