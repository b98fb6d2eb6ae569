#include "readers/ascend_text/ascend_text.h"

#include <algorithm>

#include "readers/ascend_text/communication.h"
#include "readers/ascend_text/profiler_info.h"
#include "readers/ascend_text/result_tables.h"
#include "readers/ascend_text/sheet.h"

namespace steplens::readers {
namespace {

struct KnownFile {
  std::string_view stem;
  TextFileKind kind;
};

constexpr KnownFile kCsvFiles[] = {
    {"kernel_details", TextFileKind::kKernelDetails},
    {"op_summary", TextFileKind::kKernelDetails},
    {"operator_details", TextFileKind::kOperatorDetails},
    {"operator_memory", TextFileKind::kOperatorMemory},
    {"memory_record", TextFileKind::kMemoryRecord},
    {"npu_module_mem", TextFileKind::kModuleMemory},
    {"step_trace_time", TextFileKind::kStepTrace},
    {"op_statistic", TextFileKind::kOpStatistic},
    {"api_statistic", TextFileKind::kApiStatistic},
};

constexpr KnownFile kJsonFiles[] = {
    {"communication", TextFileKind::kCommunication},
    {"communication_matrix", TextFileKind::kCommunicationMatrix},
    {"profiler_info", TextFileKind::kProfilerInfo},
    {"profiler_metadata", TextFileKind::kProfilerMetadata},
};

// Csv files of the exporter and of MindSpore without a table of their own.
constexpr std::string_view kSheets[] = {
    "ai_core_utilization",
    "ai_cpu_pmu_events",
    "ai_cpu_top_function",
    "ai_vector_core_utilization",
    "aicpu",
    "aicpu_mi",
    "ccu_channel",
    "ccu_mission",
    "communication_statistic",
    "cpu_usage",
    "ctrl_cpu_pmu_events",
    "ctrl_cpu_top_function",
    "data_preprocess",
    "dataset",
    "ddr",
    "dp",
    "dvpp",
    "fusion_op",
    "hbm",
    "hccs",
    "host_cpu_usage",
    "host_disk_usage",
    "host_mem_usage",
    "host_network_usage",
    "l2_cache",
    "llc_read_write",
    "minddata_pipeline_raw",
    "msprof_tx",
    "nic",
    "npu_mem",
    "os_runtime_statistic",
    "page_fault",
    "pcie",
    "process_cpu_usage",
    "process_mem",
    "roce",
    "soc_pmu",
    "static_op_mem",
    "step_trace",
    "sys_mem",
    "task_time",
    "ts_cpu_pmu_events",
    "ts_cpu_top_function",
    "ub",
};

// "op_summary_slice_0_20260511093035.csv" -> "op_summary": no ending, numbers or slice.
std::string_view FileStem(std::string_view base_name) {
  std::string_view stem = base_name.substr(0, base_name.find_last_of('.'));
  while (true) {
    const size_t mark = stem.find_last_of('_');
    if (mark == std::string_view::npos || mark + 1 == stem.size()) return stem;
    const std::string_view part = stem.substr(mark + 1);
    const bool is_number = part.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_number && part != "slice") return stem;
    stem = stem.substr(0, mark);
  }
}

Status ReadInput(TextFileKind kind, const TextInput& input, const ReadOptions& options,
                 store::TraceStore& out) {
  switch (kind) {
    case TextFileKind::kKernelDetails:
      return ReadKernelDetails(input, options, out);
    case TextFileKind::kOperatorDetails:
      return ReadOperatorDetails(input, options, out);
    case TextFileKind::kOperatorMemory:
      return ReadOperatorMemory(input, options, out);
    case TextFileKind::kMemoryRecord:
      return ReadMemoryRecord(input, options, out);
    case TextFileKind::kModuleMemory:
      return ReadModuleMemory(input, options, out);
    case TextFileKind::kStepTrace:
      return ReadStepTrace(input, options, out);
    case TextFileKind::kOpStatistic:
      return ReadOpStatistic(input, options, out);
    case TextFileKind::kApiStatistic:
      return ReadApiStatistic(input, options, out);
    case TextFileKind::kCommunication:
      return ReadCommunication(input, out);
    case TextFileKind::kCommunicationMatrix:
      return ReadCommunicationMatrix(input, out);
    case TextFileKind::kSheet:
      return ReadSheet(input, std::string(FileStem(input.base_name())), options, out);
    case TextFileKind::kProfilerInfo:
      return ReadProfilerInfoFile(input, out);
    case TextFileKind::kProfilerMetadata:
      return ReadProfilerMetadata(input, out);
    case TextFileKind::kDeviceInfo:
      return ReadDeviceInfo(input, out);
    case TextFileKind::kUnknown:
      break;
  }
  return Error{ErrorCode::kUnsupported, input.path + ": not a result file that steplens knows"};
}

}  // namespace

TextFileKind ClassifyTextFile(std::string_view base_name) {
  const std::string_view stem = FileStem(base_name);
  const auto find = [&](auto& files) {
    const auto found = std::find_if(std::begin(files), std::end(files),
                                    [&](const KnownFile& file) { return file.stem == stem; });
    return found == std::end(files) ? TextFileKind::kUnknown : found->kind;
  };
  if (base_name.ends_with(".json")) return find(kJsonFiles);
  if (base_name.starts_with("info.json.")) return TextFileKind::kDeviceInfo;
  if (!base_name.ends_with(".csv")) return TextFileKind::kUnknown;
  const bool is_sheet =
      std::find(std::begin(kSheets), std::end(kSheets), stem) != std::end(kSheets);
  return is_sheet ? TextFileKind::kSheet : find(kCsvFiles);
}

Status ReadTextFile(TextFileKind kind, const std::string& path, const ReadOptions& options,
                    store::TraceStore& out) {
  return ReadInput(kind, {path, {}}, options, out);
}

Status ReadTextBytes(TextFileKind kind, const std::string& name, std::string_view bytes,
                     const ReadOptions& options, store::TraceStore& out) {
  return ReadInput(kind, {name, bytes}, options, out);
}

}  // namespace steplens::readers
