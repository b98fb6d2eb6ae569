#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// One training step.
struct StepRange {
  int64_t step = 0;  // the number the host marked it with
  int64_t host_begin_ns = 0;
  int64_t host_end_ns = 0;
  int64_t begin_ns = 0;  // first device work launched by the step; host_begin_ns if there is none
  int64_t end_ns = 0;    // last end of that work, but not before host_end_ns
  // The host itself did the work: begin_ns and end_ns are those of the host, steps do not overlap,
  // and work that crosses a border counts on both sides of it (ForEachStepPart).
  bool cuts_work = false;
};

// The steps in order of host start; empty if the run marked none. Device work belongs to the step
// during which the host launched it: text and Kineto by the launching operator or runtime call, db
// by the node-level API call. Where the host is the device (every launch is the work itself, at the
// same time), a step on the device is the step on the host.
std::vector<StepRange> ComputeStepRanges(const store::TraceStore& store);

// Finds the step of device times, fastest when they come in ascending order.
class StepFinder {
 public:
  // `steps` must outlive the finder and be in the order of ComputeStepRanges.
  explicit StepFinder(std::span<const StepRange> steps) : steps_(steps) {}

  // Index of the first step with begin_ns <= ts < end_ns; the number of steps outside all steps.
  size_t IndexOf(int64_t ts_ns) {
    if (ts_ns < last_ts_ns_ || passed_ == steps_.size() || ts_ns < steps_[passed_].begin_ns ||
        ts_ns >= steps_[passed_].end_ns) {
      return Search(ts_ns);
    }
    last_ts_ns_ = ts_ns;
    return passed_;
  }

  // The same; nothing outside all steps.
  std::optional<size_t> Find(int64_t ts_ns) {
    const size_t index = IndexOf(ts_ns);
    return index < steps_.size() ? std::optional(index) : std::nullopt;
  }

 private:
  size_t Search(int64_t ts_ns);

  std::span<const StepRange> steps_;
  size_t passed_ = 0;  // steps before this one ended at or before last_ts_ns_
  int64_t last_ts_ns_ = 0;
};

}  // namespace steplens::analysis
