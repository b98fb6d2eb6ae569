#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/rule_tools.h"
#include "analysis/cluster/spread.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

constexpr double kMuchLonger = 3;
constexpr int64_t kFewestOpCalls = 8;
constexpr size_t kFewestSlow = 3;

struct SameOps {
  cluster::Spread self;
  std::vector<uint32_t> rows;
};

}  // namespace

// The thread that launches lost its core: an operator that always does the same now and then takes
// many times as long. Only where the host does nothing but launch.
std::vector<Finding> FindCpuContention(const RankEvidence& rank) {
  if (rank.is_on_host()) return {};
  const store::TraceStore& store = rank.store();
  const std::vector<HostOp>& ops = rank.host_ops().ops;
  const Cover steps = HostSteps(rank);
  std::map<StringId, SameOps> groups;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    const auto slice = static_cast<size_t>(ops[i].slice);
    const int64_t begin_ns = store.slices.begin_ns[slice];
    const std::string_view name = store.Text(store.slices.name[slice]);
    if (ops[i].host_self_ns <= 0 || steps.Within({begin_ns, AddNs(begin_ns, 1)}) == 0) continue;
    // Others wait inside of these, and allocating operators for the device's allocator.
    if (!name.starts_with("aten::") || name == "aten::item" || name == "aten::copy_" ||
        name == "aten::_local_scalar_dense" || name == "aten::nonzero" || name == "aten::empty" ||
        name == "aten::empty_strided") {
      continue;
    }
    SameOps& same = groups[store.slices.name[slice]];
    same.self.Add(ops[i].host_self_ns);
    same.rows.push_back(i);
  }
  int64_t excess_ns = 0;
  size_t slow = 0;
  uint32_t longest = 0;
  for (const auto& [name, same] : groups) {
    const double usual_ns = same.self.Quantile(0.5);
    if (same.self.count() < kFewestOpCalls) continue;
    for (const uint32_t i : same.rows) {
      const auto self_ns = static_cast<double>(ops[i].host_self_ns);
      if (self_ns <= kMuchLonger * usual_ns) continue;
      excess_ns = AddNs(excess_ns, static_cast<int64_t>(self_ns - usual_ns));
      if (slow++ == 0 || ops[i].host_self_ns > ops[longest].host_self_ns) longest = i;
    }
  }
  if (slow < kFewestSlow) return {};
  // More than the device is free cannot be gained.
  excess_ns = std::min(excess_ns, rank.times().free_ns);
  if (!rank.IsNoticeable(excess_ns)) return {};
  const std::string name(store.Text(store.slices.name[static_cast<size_t>(ops[longest].slice)]));
  Finding finding = rank.Make(RuleId::kCpuContention, {"finding.cpu_contention"},
                              {"finding.cpu_contention.reason", {{"count", std::to_string(slow)}}},
                              {"finding.cpu_contention.advice"});
  finding.saving = rank.AtMost(excess_ns, rank.times().free_ns);
  finding.confidence = Confidence::kHint;
  finding.effort = Effort::kSetting;
  finding.places = {rank.PlaceOfSlice(ops[longest].slice)};
  finding.evidence = {
      {{"evidence.slow_op",
        {{"name", name},
         {"time", SentenceTime(static_cast<double>(ops[longest].host_self_ns) / 1000)},
         {"usual",
          SentenceTime(groups.at(store.slices.name[static_cast<size_t>(ops[longest].slice)])
                           .self.Quantile(0.5) /
                       1000)}}},
       fmt::format("SELECT begin_ns, dur_ns FROM slices WHERE rank = {} AND name = '{}' ORDER BY "
                   "dur_ns DESC",
                   rank.rank(), SqlText(name))}};
  return {finding};
}

}  // namespace steplens::analysis
