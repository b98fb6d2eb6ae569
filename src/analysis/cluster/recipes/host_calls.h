#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// The step number of work in a capture that marked no steps.
inline constexpr int64_t kNoStep = -1;

// The host side of one rank's device work: when it was asked for, and in which step that was.
class HostCalls {
 public:
  // The store must outlive it. O(slices log slices).
  explicit HostCalls(const store::TraceStore& rank);

  // The start of the CANN or GPU runtime call of a connection, of several the first; kNone if there
  // is none.
  int64_t StartOf(int64_t correlation) const;

  // The step whose host time holds the moment, both ends included; kNoStep if the capture has no
  // steps, nothing outside all of them.
  std::optional<int64_t> StepAt(int64_t ts_ns) const;

 private:
  const store::StepTable& steps_;
  std::vector<std::pair<int64_t, int64_t>> starts_;  // (correlation, start), ascending
};

}  // namespace steplens::analysis::cluster
