#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/steps/steps.h"
#include "base/thread_pool.h"
#include "server/names.h"
#include "server/timeline/flow_index.h"
#include "server/timeline/lane.h"
#include "store/trace_store.h"

namespace steplens::server {

// The lanes of one rank, built once when it is read and never changed after its names are known.
// Views columns of the store: the store may be moved, but must live on.
class RankTimeline {
 public:
  // `root_path` is the path of the rank's lane ("r0"). Uses the pool; the result does not depend on
  // its size.
  static std::unique_ptr<RankTimeline> Build(const store::TraceStore& store, ThreadPool& pool);

  // Gives every name its number. Before that tiles must not be made.
  void AssignNames(const store::TraceStore& store, NamePool& names);

  // In display order, a lane behind the one above it; ids and parents count from 1 within the rank.
  // The first is the rank itself.
  std::vector<std::unique_ptr<Lane>>& lanes() { return lanes_; }
  const std::vector<std::unique_ptr<Lane>>& lanes() const { return lanes_; }

  // The lane that shows a slice of the store, or a track; null if none does.
  const Lane* LaneOf(const store::TraceStore& store, uint32_t slice) const;
  const Lane* LaneOf(store::TrackId track) const;
  bool IsPython(StringId category) const {
    return static_cast<size_t>(category) < is_python_.size() &&
           is_python_[static_cast<size_t>(category)];
  }

  bool IsAnnotation(StringId category) const {
    return static_cast<size_t>(category) < is_annotation_.size() &&
           is_annotation_[static_cast<size_t>(category)];
  }

  const FlowIndex& flows() const { return flows_; }
  const std::vector<bool>& has_flow() const { return has_flow_; }
  const std::vector<analysis::StepRange>& steps() const { return steps_; }
  // From the first to the last of what lanes show: slices, or counters as well.
  store::Extent work() const { return work_; }
  store::Extent extent() const { return extent_; }
  const std::vector<uint32_t>& name_ids() const { return name_ids_; }
  size_t bytes() const;

 private:
  friend class TreeBuilder;
  // Slices computed here, not read: the Overlap Analysis of captures that lack it. All slices of a
  // lane have one name.
  struct Derived {
    std::vector<int64_t> begin_ns;
    std::vector<int64_t> dur_ns;
    std::optional<PackedTimes> packed;  // in place of both, where they fit
    std::vector<uint32_t> name_id;
    std::string text;
  };

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> lane_of_track_;         // slices that have no lane of their own
  std::vector<Lane*> stack_of_track_;        // Python functions
  std::vector<Lane*> annotations_of_track_;  // ranges of the host on a stream
  std::vector<bool> is_python_;              // by category
  std::vector<bool> is_annotation_;          // by category
  std::vector<uint32_t> name_ids_;           // by StringId of the store
  std::vector<StringId> used_names_;
  std::vector<std::unique_ptr<Derived>> derived_;
  FlowIndex flows_;
  std::vector<bool> has_flow_;  // by slice
  std::vector<analysis::StepRange> steps_;
  store::Extent work_;
  store::Extent extent_;
};

// Fills in the lanes; see lane_tree.cc.
void BuildLaneTree(const store::TraceStore& store, ThreadPool& pool, RankTimeline& out);

}  // namespace steplens::server
