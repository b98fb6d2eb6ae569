#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/verify/check.h"

namespace steplens::analysis::verify {

// What the kernels say about one row of step_trace_time.
struct StepShare {
  int64_t computing_ns = 0;  // union of compute kernels
  size_t compute_kernels = 0;
  int64_t communication_ns = 0;  // union of collectives
  size_t collectives = 0;
  bool collectives_overlap = false;  // some of them run at the same time
  bool collectives_go_on = false;    // one of them is cut at the end of the step
  bool is_known = true;              // of each of them the start and the duration are known
};

// One share per row of step_traces. Kernels outside of all steps count nowhere. As the files are
// made: in text, kernels are first joined to runs of busy time, and a run belongs to the step in
// which it starts; in the db, kernels are divided among the steps first and joined then. Where the
// host is the device, kernels are cut at the borders of steps before both. The step
// of a kernel is its Step Id, or, where the file has none, the step range it starts in. Nothing if
// steps cannot be told.
std::optional<std::vector<StepShare>> ShareKernels(const Context& context);

}  // namespace steplens::analysis::verify
