#pragma once

#include <string>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis::compare {

// The memory of both sides over the time since the first sample of each.
struct MemoryCurves {
  struct Curve {
    std::string name;       // of the series, "Operators Allocated"
    std::vector<double> a;  // MB, the highest of each stretch; NaN behind the end
    std::vector<double> b;
  };
  std::vector<double> ms;  // where the stretches begin
  std::vector<Curve> curves;
};

// What operators hold and what the allocator holds for them, where both sides recorded it.
MemoryCurves CollectMemoryCurves(const store::TraceStore& a, const store::TraceStore& b);

}  // namespace steplens::analysis::compare
