#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "analysis/facts/rank_view.h"
#include "analysis/launches/launches.h"
#include "analysis/whatif/step_graph.h"

namespace steplens::analysis {

// Where in the code a node of the step graph comes from.
struct CallSite {
  std::string op;    // the operator of the host; empty if unknown
  std::string code;  // the Python frame nearest to it; empty if stacks were not recorded
};

class CallSites {
 public:
  // The view must outlive this.
  explicit CallSites(const RankView& rank) : rank_(rank) {}
  CallSite Of(const GraphNode& node);
  CallSite OfHost(store::SliceId slice) const;

 private:
  store::SliceId LauncherOf(store::SliceId device);

  const RankView& rank_;
  std::unique_ptr<std::unordered_map<store::SliceId, Launch>> launches_;
};

}  // namespace steplens::analysis
