#include <fmt/format.h>

#include <algorithm>

#include "analysis/advice/rules/beyond.h"
#include "analysis/advice/rules/rule_tools.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

namespace steplens::analysis {

// Activation checkpointing: what it costs, and what it is bought for is memory.
std::vector<Finding> FindRecomputing(const RankEvidence& rank) {
  const store::TraceStore& store = rank.store();
  const bool is_host_only = rank.is_on_host();
  const Cover steps = HostSteps(rank);
  const std::vector<HostOp>& ops = rank.host_ops().ops;
  std::vector<store::SliceId> found;
  for (const HostOp& op : ops) {
    const int64_t begin_ns = store.slices.begin_ns[static_cast<size_t>(op.slice)];
    if (op.pass == OpPass::kRecomputed && steps.Within({begin_ns, AddNs(begin_ns, 1)}) > 0)
      found.push_back(op.slice);
  }
  std::sort(found.begin(), found.end());
  int64_t sum_ns = 0;
  std::vector<store::SliceId> outermost;
  store::SliceId longest = store::kNoSlice;
  int64_t longest_ns = -1;
  for (const HostOp& op : ops) {
    if (!std::binary_search(found.begin(), found.end(), op.slice) ||
        std::binary_search(found.begin(), found.end(), op.parent)) {
      continue;
    }
    const int64_t ns = is_host_only ? op.host_total_ns : op.device_total_ns;
    sum_ns = AddNs(sum_ns, ns);
    outermost.push_back(op.slice);
    if (ns > longest_ns) longest = op.slice;
    longest_ns = std::max(longest_ns, ns);
  }
  if (!rank.IsNoticeable(sum_ns)) return {};
  Finding finding = rank.Make(RuleId::kRecompute, {"finding.recompute"},
                              {"finding.recompute.reason", {{"percent", rank.Percent(sum_ns)}}},
                              {"finding.recompute.advice"});
  finding.saving = rank.AtMost(sum_ns, rank.times().step_ns);
  finding.confidence = Confidence::kEstimated;
  finding.effort = Effort::kSetting;
  finding.places = {rank.PlaceOfSlice(longest)};
  finding.evidence = {
      {{"evidence.recomputed",
        {{"count", std::to_string(outermost.size())},
         {"time", SentenceTime(rank.PerStepUs(sum_ns))}}},
       fmt::format("SELECT begin_ns, dur_ns FROM slices WHERE rank = {} AND name = '{}'",
                   rank.rank(),
                   SqlText(store.Text(store.slices.name[static_cast<size_t>(longest)])))}};
  AddCallSite(rank, longest, finding);
  std::sort(outermost.begin(), outermost.end());
  finding.change = RemoveWork(rank, outermost, LaunchedBy(rank, outermost));
  return {finding};
}

}  // namespace steplens::analysis
