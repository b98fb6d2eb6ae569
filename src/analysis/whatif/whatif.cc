#include "analysis/whatif/whatif.h"

#include <algorithm>
#include <cmath>

#include "analysis/whatif/edit_applier.h"

namespace steplens::analysis {

StepReplay::StepReplay(const store::Job& job, std::span<const RankView> ranks,
                       std::optional<int64_t> step)
    : ranks_(ranks),
      graph_(BuildStepGraph(job, ranks, step)),
      at_(graph_.graph.Earliest(graph_.weight_ns)),
      path_(FindCriticalPath(graph_, graph_.weight_ns, at_)),
      replayed_ns_(graph_.FinishNs(at_)) {
  std::vector<int64_t> weights = graph_.weight_ns;
  for (size_t e = 0; e < weights.size(); ++e) weights[e] -= graph_.unexplained_ns[e];
  explained_ns_ = graph_.FinishNs(graph_.graph.Earliest(weights));
}

double StepReplay::error_percent() const {
  const auto measured = static_cast<double>(measured_ns());
  if (measured <= 0) return 0;
  return std::abs(static_cast<double>(explained_ns_) - measured) / measured * 100;
}

StepReplay::Outcome StepReplay::Run(std::span<const Edit> edits) const {
  const EditApplier applier(graph_, ranks_);
  std::vector<int64_t> weights = graph_.weight_ns;
  Outcome out;
  for (const Edit& edit : edits) out.changed_edges += applier.Apply(edit, weights);
  out.window_ns = graph_.FinishNs(graph_.graph.Earliest(weights));
  out.saving_ns = replayed_ns_ - out.window_ns;
  // The path still takes what the edits left of it, from the last place where they cut it.
  int64_t left_ns = 0;
  for (size_t i = path_.edges.size(); i-- > 0;) {
    const int64_t weight_ns = weights[path_.edges[i]];
    if (weight_ns == DependencyGraph::kDropped) break;
    left_ns += weight_ns;
  }
  out.bound_ns = std::max(out.saving_ns, replayed_ns_ - std::max<int64_t>(left_ns, 0));
  return out;
}

}  // namespace steplens::analysis
