#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>

#include "store/tables.h"

namespace steplens::store {

// visit(column as the file names it, row, value in us) for every part of a step's time that the
// step table knows.
template <typename Visitor>
void ForEachStepValue(const StepTraceTable& traces, Visitor&& visit) {
  struct Part {
    std::string_view name;
    const Column<double>& values_us;
  };
  const Part parts[] = {
      {"Computing", traces.computing_us},
      {"Communication(Not Overlapped)", traces.comm_not_overlapped_us},
      {"Overlapped", traces.overlapped_us},
      {"Communication", traces.communication_us},
      {"Free", traces.free_us},
      {"Stage", traces.stage_us},
      {"Bubble", traces.bubble_us},
      {"Communication(Not Overlapped and Exclude Receive)", traces.comm_exclude_receive_us},
  };
  for (size_t row = 0; row < traces.size(); ++row) {
    for (const auto& [name, values_us] : parts) {
      if (!std::isnan(values_us[row])) visit(name, row, values_us[row]);
    }
  }
}

// Whether a part of a step's time cannot be one: below zero by more than sums of doubles may be, or
// more than thirty years.
inline bool IsOddStepValue(double value_us) {
  constexpr double kRoundingUs = 0.001;
  constexpr double kAbsurdUs = 1e15;
  return !(value_us >= -kRoundingUs && value_us < kAbsurdUs);
}

// The value, or not known if it cannot be one: what is reported as unusable takes part in nothing.
inline double UsableStepUs(double value_us) {
  return IsOddStepValue(value_us) ? NotKnown<double>() : value_us;
}

}  // namespace steplens::store
