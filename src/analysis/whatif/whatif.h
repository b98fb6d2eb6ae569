#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "analysis/whatif/critical_path.h"
#include "analysis/whatif/edit.h"
#include "analysis/whatif/step_graph.h"

namespace steplens::analysis {

// Replays of one step graph.
//
//   const StepReplay replay(job, ranks, step);
//   const StepReplay::Outcome outcome = replay.Run(edits);
class StepReplay {
 public:
  // The views must outlive the replay.
  StepReplay(const store::Job& job, std::span<const RankView> ranks, std::optional<int64_t> step);
  StepReplay(const StepReplay&) = delete;
  StepReplay& operator=(const StepReplay&) = delete;

  const StepGraph& graph() const { return graph_; }
  std::span<const RankView> ranks() const { return ranks_; }
  const CriticalPath& path() const { return path_; }
  const std::vector<int64_t>& at() const { return at_; }  // by point, unchanged

  int64_t measured_ns() const { return graph_.MeasuredNs(); }
  // The window by what the recorded dependencies explain.
  int64_t explained_ns() const { return explained_ns_; }
  // How far that is from what was measured. Above kTrustedPercent, savings are rough estimates.
  double error_percent() const;
  static constexpr double kTrustedPercent = 2;
  bool is_trusted() const { return error_percent() <= kTrustedPercent; }

  struct Outcome {
    int64_t window_ns = 0;  // with the edits
    int64_t saving_ns = 0;  // unchanged replay minus that; negative if it takes longer
    // What the edits take away on the critical path: they cannot save more.
    int64_t bound_ns = 0;
    size_t changed_edges = 0;
  };
  Outcome Run(std::span<const Edit> edits) const;

 private:
  std::span<const RankView> ranks_;
  StepGraph graph_;
  std::vector<int64_t> at_;
  CriticalPath path_;
  int64_t replayed_ns_ = 0;
  int64_t explained_ns_ = 0;
};

}  // namespace steplens::analysis
