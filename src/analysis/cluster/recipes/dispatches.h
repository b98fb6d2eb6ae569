#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/classify/classify.h"
#include "analysis/overlap/overlap.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// What the host did to have device work done, found by the connection (correlation) of the work.
class Dispatches {
 public:
  // `tracks` is what ClassifyTracks returned. O(n log n) over the slices of the host.
  Dispatches(const store::TraceStore& rank, const std::vector<TrackKind>& tracks);

  // The call into CANN or the GPU runtime, of several the first.
  std::optional<Interval> ApiOf(int64_t correlation) const { return Find(apis_, correlation); }
  // The framework's operator that asked for the work.
  std::optional<Interval> OperatorOf(int64_t correlation) const {
    return Find(operators_, correlation);
  }

 private:
  using Entries = std::vector<std::pair<int64_t, Interval>>;  // by correlation

  static std::optional<Interval> Find(const Entries& entries, int64_t correlation);
  void AddApis(const store::TraceStore& rank, const std::vector<TrackKind>& tracks);
  void AddOperators(const store::TraceStore& rank, const std::vector<TrackKind>& tracks);

  Entries apis_;
  Entries operators_;
};

}  // namespace steplens::analysis::cluster
