#pragma once

#include <string>

#include "base/status.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Tables of which an Nsight Systems export has at least one.
inline constexpr std::string_view kNsysTables[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                                   "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"};

// Reads an Nsight Systems SQLite export into `out` (appends):
//   NVTX ranges                         -> slices of category user_annotation; marks -> instants
//   CUPTI_ACTIVITY_KIND_RUNTIME         -> slices of category cuda_runtime or cuda_driver
//   CUPTI_ACTIVITY_KIND_KERNEL, MEMCPY,
//   MEMSET                              -> slices of category kernel, gpu_memcpy, gpu_memset, and
//                                          rows of kernels
// The numbers that join calls and device work count per process; here they are made unique over the
// processes of the file. Absent tables are skipped, bad rows are counted in out.issues. An error
// only if the file is no such export.
Status ReadNsysDb(const std::string& path, const ReadOptions& options, store::TraceStore& out);

}  // namespace steplens::readers
