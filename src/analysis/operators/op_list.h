#pragma once

#include <string>

#include "analysis/operators/kernel_statistics.h"
#include "analysis/selection.h"
#include "base/status.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

// What says most of the input: types where kernels have them, their names elsewhere (a GPU, Level0,
// a timeline without its kernel_details), and the operators of a run without a device.
std::string BestOpGrouping(const store::Job& job);

// Whether `by` lists kernels, not what runs on the host.
bool GroupsKernels(const std::string& by);

// `by`: name, type, shape or core. `communication`: include, exclude, only; empty for the default.
KernelStatisticsOptions OpListOptions(const Selection& selection, const std::string& by,
                                      const std::string& communication);

// What `steplens ops` lists, by the words of its options; `by` can be api and operator as well.
// kInvalidArgument for other words.
Result<table::Table> ListOps(const store::Job& job, const Selection& selection,
                             const std::string& by, const std::string& communication);

}  // namespace steplens::analysis
