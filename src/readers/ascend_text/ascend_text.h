#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

namespace steplens::readers {

// The result files of an Ascend capture that are not the trace.
enum class TextFileKind : uint8_t {
  kKernelDetails,        // kernel_details.csv, op_summary -> kernels, kernel_metrics
  kOperatorDetails,      // operator_details.csv -> operator_details
  kOperatorMemory,       // operator_memory.csv -> allocations
  kMemoryRecord,         // memory_record.csv -> memory_samples
  kModuleMemory,         // npu_module_mem.csv -> module_memory
  kStepTrace,            // step_trace_time.csv -> step_traces
  kOpStatistic,          // op_statistic.csv -> op_statistics
  kApiStatistic,         // api_statistic.csv -> api_statistics
  kCommunication,        // communication.json -> comm_times, comm_bandwidths, comm_packets
  kCommunicationMatrix,  // communication_matrix.json -> comm_links
  kSheet,                // any other csv of the exporter, kept as it is -> sheets
  kProfilerInfo,  // profiler_info.json -> meta, one row a scalar: "config.common_config.with_stack"
  kProfilerMetadata,  // profiler_metadata.json -> meta, one row a key, with its JSON text
  kDeviceInfo,        // PROF_*/device_<n>/info.json.<n> -> meta, "DeviceInfo" with its JSON text
  kUnknown,
};

// By the base name: torch_npu's and MindSpore's names ("kernel_details.csv") and msprof's, with
// time and slice
// ("op_summary_20260511093035.csv", "op_summary_slice_0_20260511093035.csv").
TextFileKind ClassifyTextFile(std::string_view base_name);

// Reads one file into `out` (appends). Bad rows are counted in out.issues, and the tables are sound
// whatever is returned: after an error they hold the rows before it.
Status ReadTextFile(TextFileKind kind, const std::string& path, const ReadOptions& options,
                    store::TraceStore& out);

// The same for a file in memory; `name` is its base name.
Status ReadTextBytes(TextFileKind kind, const std::string& name, std::string_view bytes,
                     const ReadOptions& options, store::TraceStore& out);

// What profiler_info.json says about the capture as a whole, in torch_npu's and in MindSpore's
// form.
struct ProfilerInfo {
  int64_t rank_id = store::kNone;  // none if the job was not distributed
  std::string level;               // Level0, Level1, Level2, LevelNone; empty if not given
  std::string export_type;         // text, db or "text,db"; empty if not given
};
Result<ProfilerInfo> ReadProfilerInfo(const std::string& path);

}  // namespace steplens::readers
