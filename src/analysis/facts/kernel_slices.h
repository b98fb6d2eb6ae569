#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/classify/classify.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// The key between kernels and the timeline: which slice shows a kernel, and which kernel a slice
// shows. A kernel has one slice at most, and a slice one kernel.
class KernelSlices {
 public:
  KernelSlices() = default;
  // `slice_of`: of each row of kernels, kNoSlice where there is none. No slice comes twice.
  explicit KernelSlices(std::vector<store::SliceId> slice_of);

  // One entry per row of kernels; kNoSlice where the timeline does not show it.
  const std::vector<store::SliceId>& slice_of() const { return slice_of_; }
  // The kernels that have a slice, in the order of their slices.
  const std::vector<uint32_t>& by_slice() const { return by_slice_; }
  // The row of kernels that a slice shows; kNoId for other slices. O(log n).
  uint32_t KernelOf(store::SliceId slice) const;

 private:
  std::vector<store::SliceId> slice_of_;
  std::vector<uint32_t> by_slice_;
};

// A compute kernel is the task on a stream that has its name and starts when it does. A collective
// is the operation of its name on the track of its group, whose start may lie 1 ns beside its own:
// the files round differently. A GPU runs its collectives on streams, like all other kernels.
// Where several have the same name and start, those of the same device and stream belong together;
// what is left pairs up in the order of the rows. O(n log n), linear where kernels and tasks come
// in the same order. `tracks` and `platform` are those of the store (classify.h).
KernelSlices MatchKernelSlices(const store::TraceStore& store, std::span<const TrackKind> tracks,
                               Platform platform);

}  // namespace steplens::analysis
