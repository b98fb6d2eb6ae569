#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/rule_tools.h"
#include "analysis/collectives/group_times.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

constexpr double kSmallBytes = 1 << 20;
constexpr size_t kFewestPerStep = 10;
constexpr double kElementBytes = 2;  // where the type is not known: no more than it can be

double ElementBytes(std::string_view type) {
  const auto holds = [&](std::string_view word) {
    return type.find(word) != std::string_view::npos;
  };
  if (holds("64") || holds("Double") || holds("Long")) return 8;
  if (holds("32") || holds("Float") || holds("float") || holds("Int")) return 4;
  if (holds("8") || holds("Byte") || holds("Char")) return 1;
  return kElementBytes;
}

// 0 if nothing says how much a collective moves.
double BytesOf(const store::TraceStore& store, size_t row) {
  const store::CommOpTable& ops = store.comm_ops;
  if (ops.size_bytes[row] != store::kNone && ops.size_bytes[row] > 0)
    return static_cast<double>(ops.size_bytes[row].value());
  if (ops.count[row] == store::kNone || ops.count[row] <= 0) return 0;
  return static_cast<double>(ops.count[row].value()) * ElementBytes(store.Text(ops.data_type[row]));
}

struct GroupCalls {
  std::vector<uint32_t> small;
  int64_t small_ns = 0;
  double small_bytes = 0;
  double best_bytes_per_ns = 0;
  int64_t shortest_ns = INT64_MAX;  // what any call takes at least
};

}  // namespace

// Many calls that each move little take as long as their latency says. As one call they would take
// the latency once, and the time of their bytes at the best speed that the group reached.
std::vector<Finding> FindSmallCollectives(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  const store::CommOpTable& ops = store.comm_ops;
  std::map<std::string, GroupCalls> groups;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.dur_ns[i] <= 0 || !rank.IsInSteps(ops.begin_ns[i])) continue;
    const double bytes = BytesOf(store, i);
    if (bytes <= 0) continue;
    GroupCalls& group = groups[GroupLabel(store, i)];
    group.best_bytes_per_ns =
        std::max(group.best_bytes_per_ns, bytes / static_cast<double>(ops.dur_ns[i]));
    group.shortest_ns = std::min(group.shortest_ns, ops.dur_ns[i]);
    if (bytes >= kSmallBytes) continue;
    group.small.push_back(i);
    group.small_ns = AddNs(group.small_ns, ops.dur_ns[i]);
    group.small_bytes += bytes;
  }
  std::vector<Finding> findings;
  for (const auto& [label, group] : groups) {
    const size_t steps = rank.times().steps;
    if (group.small.size() < kFewestPerStep * steps) continue;
    const double merged_ns = static_cast<double>(group.shortest_ns) * static_cast<double>(steps) +
                             group.small_bytes / group.best_bytes_per_ns;
    const auto saved_ns = static_cast<int64_t>(static_cast<double>(group.small_ns) - merged_ns);
    if (!rank.IsNoticeable(saved_ns)) continue;
    Finding finding = rank.Make(
        RuleId::kSmallCollectives, {"finding.name", {{"name", label}}},
        {"finding.small_collectives.reason",
         {{"count", std::to_string(group.small.size() / steps)},
          {"kb", fmt::format("{:.0f}",
                             group.small_bytes / 1024 / static_cast<double>(group.small.size()))},
          {"percent", rank.Percent(group.small_ns)}}},
        {"finding.small_collectives.advice",
         {{"mb", fmt::format("{:.0f}",
                             std::clamp(group.small_bytes / static_cast<double>(steps) / (1 << 20),
                                        25.0, 200.0))}}});
    finding.saving = rank.AtMost(saved_ns, rank.times().exposed_ns);
    if (!rank.IsNoticeable(std::min(saved_ns, rank.times().exposed_ns))) continue;
    finding.confidence = Confidence::kEstimated;
    finding.effort = Effort::kSetting;
    const auto longest =
        std::max_element(group.small.begin(), group.small.end(),
                         [&](uint32_t a, uint32_t b) { return ops.dur_ns[a] < ops.dur_ns[b]; });
    finding.places = {rank.PlaceOf(
        {ops.begin_ns[*longest], EndNs(ops.begin_ns[*longest], ops.dur_ns[*longest])})};
    finding.evidence = {
        {{"evidence.collectives",
          {{"time", SentenceTime(rank.PerStepUs(group.small_ns))},
           {"merged", SentenceTime(merged_ns / 1000 / static_cast<double>(steps))}}},
         fmt::format("SELECT name, count(*), sum(dur_ns) FROM comm_ops WHERE rank = {} GROUP BY "
                     "name",
                     rank.rank())}};
    Edit edit{.action = Edit::Action::kScale,
              .factor = std::max(0.0, merged_ns / static_cast<double>(group.small_ns))};
    edit.selector.part = EditSelector::Part::kComm;
    edit.selector.rank = rank.rank();
    edit.selector.comm_ops = group.small;
    finding.change = {edit};
    findings.push_back(std::move(finding));
  }
  return findings;
}

// Calls that neither transfer nor wait for a rank: the host started their tasks late, or the
// library set up a connection.
std::vector<Finding> FindIdleCollectives(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  const store::CommTimeTable& times = store.comm_times;
  double idle_ms = 0;
  double elapse_ms = 0;
  double transit_ms = 0;
  size_t longest = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    if (store.Text(times.op_name[i]) == kTotalOp || !(times.idle_ms[i] >= 0)) continue;
    if (times.idle_ms[i] > times.idle_ms[longest]) longest = i;
    idle_ms += times.idle_ms[i];
    elapse_ms += times.elapse_ms[i];
    transit_ms += times.transit_ms[i];
  }
  const auto idle_ns = static_cast<int64_t>(idle_ms * 1e6);
  constexpr double kMostlyIdle = 0.3;
  // What nothing hides at most: the rest is idle beside computing.
  const int64_t felt_ns = std::min(idle_ns, rank.times().exposed_ns);
  if (elapse_ms <= 0 || idle_ms < kMostlyIdle * elapse_ms || !rank.IsNoticeable(felt_ns)) return {};
  const std::string name(store.Text(times.op_name[longest]));
  Finding finding = rank.Make(RuleId::kCollectiveIdle, {"finding.collective_idle"},
                              {"finding.collective_idle.reason",
                               {{"percent", fmt::format("{:.0f}", 100 * idle_ms / elapse_ms)},
                                {"transit", fmt::format("{:.0f}", 100 * transit_ms / elapse_ms)}}},
                              {"finding.collective_idle.advice"});
  // Why a call idles was not recorded; often it is a rank that was not captured. No saving is told.
  finding.confidence = Confidence::kHint;
  finding.effort = Effort::kSetting;
  finding.evidence = {
      {{"evidence.idle_call",
        {{"name", name},
         {"idle", fmt::format("{:.3f}", times.idle_ms[longest])},
         {"elapse", fmt::format("{:.3f}", times.elapse_ms[longest])}}},
       fmt::format("SELECT op_name, elapse_ms, idle_ms, transit_ms FROM comm_times WHERE rank = {} "
                   "ORDER BY idle_ms DESC",
                   rank.rank())}};
  return {finding};
}

}  // namespace steplens::analysis
