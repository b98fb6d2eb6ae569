#pragma once

#include <cstddef>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// The AI Core frequency of a counter series.
struct FrequencyRange {
  size_t track = 0;
  double high_mhz = 0;
  double low_mhz = 0;
  double drop_percent = 0;  // whole
  bool is_issue = false;    // by the rule of the reference viewer: more than 5 %
};
std::vector<FrequencyRange> ListFrequencies(const store::TraceStore& store);

}  // namespace steplens::analysis
