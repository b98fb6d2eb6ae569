#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/classify/classify.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// A value of the store, or what the deliverables say where it has none.
inline int64_t ValueOr(int64_t value, int64_t other) {
  return value == store::kNone ? other : value;
}

// What the deliverables call a track.
struct TrackFacts {
  analysis::TrackKind kind = analysis::TrackKind::kOther;
  std::string_view process;  // name of its process; empty if it has none
  int64_t tid = 0;           // 0 if its tid is no number
  int64_t device = 0;        // of a device track: 0 if nothing says it
};

// The timeline of a store as the writers see it: one entry per track. The store must outlive it.
struct Timeline {
  explicit Timeline(const store::TraceStore& store);

  const TrackFacts& of(store::TrackId track) const {
    const auto i = static_cast<size_t>(track);
    return i < tracks.size() ? tracks[i] : nothing;
  }

  std::vector<TrackFacts> tracks;
  std::vector<analysis::TrackKind> kinds;  // of each track, for the analyses that ask for it
  analysis::Platform platform;
  int64_t os_pid = 0;        // of the profiled process; 0 if nothing says it
  int64_t device = 0;        // of the rank; 0 if nothing says it
  bool is_hccl_era = false;  // "HCCL" where later captures say "Communication"
  bool has_overlap = false;  // the store has an Overlap Analysis process
  TrackFacts nothing;
};

// How device slices, compute kernels and communication tasks belong together. A kernel is the slice
// that facts/kernel_slices.h says, a communication task that of the same stream and start; each is
// given away once. O(n log n).
struct DeviceIndex {
  DeviceIndex(const store::TraceStore& store, const Timeline& timeline);

  std::vector<uint32_t> slices;           // rows of slices that are device work, in store order
  std::vector<uint32_t> kernel_of;        // parallel to `slices`: row of kernels, or kNoId
  std::vector<uint32_t> comm_task_of;     // parallel to `slices`: row of comm_tasks, or kNoId
  std::vector<uint32_t> lone_kernels;     // compute kernels without a slice
  std::vector<uint32_t> lone_comm_tasks;  // communication tasks without a slice

 private:
  void MatchKernels(const store::TraceStore& store, const Timeline& timeline);
  void MatchCommTasks(const store::TraceStore& store, const Timeline& timeline);
};

}  // namespace steplens::exporting
