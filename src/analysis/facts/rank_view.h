#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/classify/classify.h"
#include "analysis/classify/device_work.h"
#include "analysis/facts/kernel_slices.h"
#include "analysis/facts/name_rows.h"
#include "analysis/flows/flow_ends.h"
#include "analysis/nesting/nesting.h"
#include "analysis/overlap/cover.h"
#include "analysis/overlap/overlap_lanes.h"
#include "analysis/steps/steps.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// One rank as analyses see it: its store, and the facts that follow from it.
//
//   const RankView rank(store);
//   for (const StepRange& step : rank.steps()) ...
//
// A fact is computed when it is first asked for, and kept: whoever asks next gets it for nothing.
// One that nobody asks for costs neither time nor memory, so a view is as cheap as a pointer to
// make. Copies of a view share their facts. Any number of threads may ask; those that want a fact
// while it is computed wait for it. The store must outlive the view and must not change.
class RankView {
 public:
  explicit RankView(const store::TraceStore& store);
  // The same facts for a store that was moved: its rows are the same, elsewhere.
  RankView AfterMove(const store::TraceStore& moved) const;

  const store::TraceStore& store() const { return *store_; }
  int64_t rank() const { return store_->info.rank; }

  // What its parts are.
  const std::vector<TrackKind>& tracks() const;  // one entry per track
  const SliceKinds& slice_kinds() const;         // of categories
  Platform platform() const;

  // When the host and the device did what.
  const std::vector<StepRange>& steps() const;         // by host start
  const std::vector<DeviceWork>& device_work() const;  // by device
  std::span<const int64_t> kernel_steps() const;       // the input's own where it says them
  const Cover& communication() const;                  // of all devices
  const std::vector<OverlapLanes>& overlap() const;    // by device

  // What belongs to what. Ids are rows of store().slices.
  const KernelSlices& kernel_slices() const;  // kernel <-> slice
  const TrackIndex& track_index() const;      // all slices, by track and time
  const Nesting& nesting() const;             // depth and parent of all slices
  const FlowEnds& flow_ends() const;          // the slices at both ends of each arrow
  const NameRows& slice_names() const;        // the slices of a name
  const NameRows& kernel_names() const;       // the kernels of a name
  // By slice: the API call that launched it (ForEachApiLaunch), kNoSlice where there is none.
  const std::vector<store::SliceId>& launch_calls() const;

 private:
  struct Facts;
  RankView(const store::TraceStore& store, std::shared_ptr<Facts> facts);

  const store::TraceStore* store_;
  std::shared_ptr<Facts> facts_;  // shared by the copies of a view
};

}  // namespace steplens::analysis
