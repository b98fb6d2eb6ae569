#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/advice/rules/fusion_passes.h"
#include "analysis/advice/rules/rules.h"
#include "analysis/cells.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

struct PassMatch {
  std::string_view graph;
  std::string_view pass;
  std::string names{};      // "conv - relu"
  std::string structure{};  // "Conv2D > ReluV2"
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
};

// Durations of kernels by name; the first of each counts.
std::map<std::string_view, int64_t> DurationsByName(const store::TraceStore& store) {
  std::map<std::string_view, int64_t> out;
  for (size_t i = 0; i < store.kernels.size(); ++i) {
    if (store.kernels.dur_ns[i] != store::kNone)
      out.try_emplace(store.Text(store.kernels.name[i]), store.kernels.dur_ns[i]);
  }
  return out;
}

PassMatch DescribeMatch(const CompiledGraph& graph, const FusionPattern& pattern,
                        const std::vector<uint32_t>& nodes,
                        const std::map<std::string_view, int64_t>& durations) {
  PassMatch out{.graph = graph.name, .pass = pattern.pass};
  for (const uint32_t node : nodes) {
    const CompiledGraph::Node& op = graph.nodes[node];
    out.names += (out.names.empty() ? "" : " - ") + op.name;
    out.structure += (out.structure.empty() ? "" : " > ") + op.type;
    const auto found = durations.find(op.name);
    if (found == durations.end()) continue;
    out.total_ns = AddNs(out.total_ns, found->second);
    out.longest_ns = std::max(out.longest_ns, found->second);
  }
  return out;
}

}  // namespace

std::vector<Finding> MatchFusionPasses(const RankEvidence& rank) {
  std::vector<CompiledGraph> graphs;
  for (const AdviceContext::GraphDump& dump : rank.context().graphs) {
    if (dump.rank == rank.rank()) graphs.push_back(ParseGraphDump(dump.text));
  }
  if (graphs.empty()) return {};
  const std::map<std::string_view, int64_t> durations = DurationsByName(rank.store());
  std::vector<FusionPattern> patterns = rank.settings().graph;
  patterns.insert(patterns.end(), KnownFusionPasses().begin(), KnownFusionPasses().end());
  std::vector<PassMatch> found;
  for (const CompiledGraph& graph : graphs) {
    for (const FusionPattern& pattern : patterns) {
      for (const std::vector<uint32_t>& nodes : MatchPattern(graph, pattern))
        found.push_back(DescribeMatch(graph, pattern, nodes, durations));
    }
  }
  if (found.empty()) return {};
  std::stable_sort(found.begin(), found.end(),
                   [](const PassMatch& a, const PassMatch& b) { return a.total_ns > b.total_ns; });
  TableRows rows(rank.DetailName(RuleId::kGraphFusion),
                 {TextColumn("graph_name"), TextColumn("fusion_pattern"), TextColumn("op_name"),
                  TextColumn("fusion_structure"), TimeColumn("Elapsed Time(us)")});
  int64_t total_ns = 0;
  int64_t income_ns = 0;
  for (const PassMatch& one : found) {
    rows.Add(one.graph, one.pass, one.names, one.structure, one.total_ns);
    total_ns = AddNs(total_ns, one.total_ns);
    income_ns = AddNs(income_ns, one.total_ns - one.longest_ns);
  }
  Finding finding = rank.Make(
      RuleId::kGraphFusion, {"finding.name", {{"name", std::string(found.front().pass)}}},
      {"finding.graph_fusion.reason",
       {{"count", std::to_string(found.size())}, {"time", SentenceTime(NsToUs(total_ns))}}},
      {"finding.graph_fusion.advice"});
  finding.saving = rank.AtMost(income_ns, rank.times().computing_ns);
  finding.effort = Effort::kSetting;
  finding.details = {rows.Take()};
  finding.evidence = {
      {{"evidence.graph",
        {{"name", found.front().names}, {"pass", std::string(found.front().pass)}}},
       fmt::format("SELECT name, dur_ns FROM kernels WHERE rank = {}", rank.rank())}};
  return {finding};
}

}  // namespace steplens::analysis
