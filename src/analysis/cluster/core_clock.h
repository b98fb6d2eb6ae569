#pragma once

#include <cstdint>
#include <map>

#include "analysis/cluster/step_window.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// How long the AI cores of a rank were at each frequency inside a window, and how much of that they
// computed, by MHz. Empty if the capture has no frequencies.
struct ClockTimes {
  std::map<int64_t, int64_t> all_ns;
  std::map<int64_t, int64_t> computing_ns;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(all_ns, computing_ns);
  }
};

ClockTimes MeasureClock(const store::TraceStore& rank, const StepWindow& window);

// The average frequency of times by MHz; 0 if there are none.
double MeanMhz(const std::map<int64_t, int64_t>& ns_at_mhz);

}  // namespace steplens::analysis::cluster
