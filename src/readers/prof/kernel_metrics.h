#pragma once

#include <cstdint>
#include <vector>

#include "readers/prof/ascend_tasks.h"
#include "readers/prof/control_files.h"
#include "readers/prof/device_records.h"
#include "readers/prof/host_tasks.h"
#include "store/trace_store.h"

namespace steplens::readers::prof {

// A row of kernels: a run of a task that is an operator, or a collective.
struct KernelRun {
  uint32_t task = kNoRow;  // AscendTask; kNoRow for a collective
  uint32_t op = kNoRow;    // ComputeOp
};

// Columns of counters for the kernels, in the order of `runs`; those without are not known.
// Empty if nothing was counted. Sorts the counters of `records`.
std::vector<store::DynamicColumn> MakeKernelMetrics(const Control& control, DeviceRecords& records,
                                                    const std::vector<AscendTask>& tasks,
                                                    const std::vector<ComputeOp>& ops,
                                                    const std::vector<KernelRun>& runs);

}  // namespace steplens::readers::prof
