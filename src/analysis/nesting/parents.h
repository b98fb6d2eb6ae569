#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/time_math.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// visit(place, parent) for each slice of one track, which come in drawing order (TrackIndex): its
// place among them and that of the slice it lies in, as Nesting defines it, or kNoId. Needs no
// memory but for the slices that are open.
template <typename Visitor>
void ForEachParent(const store::TraceStore& store, std::span<const store::SliceId> slices,
                   Visitor&& visit) {
  struct Open {
    int64_t end_ns;
    uint32_t place;
  };
  const auto begin_ns = store.slices.begin_ns.span();
  const auto dur_ns = store.slices.dur_ns.span();
  std::vector<Open> open;
  for (uint32_t place = 0; place < slices.size(); ++place) {
    const auto slice = static_cast<size_t>(slices[place]);
    const int64_t end_ns = EndNs(begin_ns[slice], dur_ns[slice]);
    // One that ends before this one does can contain nothing that starts later and is not inside
    // this one.
    while (!open.empty() &&
           (open.back().end_ns <= begin_ns[slice] || open.back().end_ns < end_ns)) {
      open.pop_back();
    }
    visit(place, open.empty() ? store::kNoId : open.back().place);
    open.push_back({end_ns, place});
  }
}

}  // namespace steplens::analysis
