#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/overlap/overlap.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// The AI Core frequency of a counter series.
struct FrequencyRange {
  size_t track = 0;
  double high_mhz = 0;
  double low_mhz = 0;
  double drop_percent = 0;  // whole
  bool is_issue = false;    // by the rule of the reference viewer: more than 5 %
  Interval lowest{};        // from the first sample with the lowest frequency to the next one
};
// `counts` says which times are looked at; empty: all.
std::vector<FrequencyRange> ListFrequencies(const store::TraceStore& store,
                                            const std::function<bool(int64_t)>& counts = {});

}  // namespace steplens::analysis
