#include "readers/ascend_text/result_tables.h"

#include <string>
#include <string_view>
#include <vector>

#include "readers/ascend_text/csv_table.h"

// Which column of which file goes where, with the names it had in each generation. A column is
// optional if some generation, level or framework never writes it.

namespace steplens::readers {
namespace {

constexpr Need kOptional = Need::kOptional;

// Whether a memory_record.csv is MindSpore's. It has the columns of PyTorch's without the streams,
// so the components tell; GE and APP are in both.
bool IsMindSporeMemoryRecord(const TextInput& input, ReadOptions options) {
  options.progress = nullptr;
  store::IssueLog issues;  // its reader reports problems of the file
  Result<CsvRows> rows = CsvRows::Open(input, options, issues);
  if (!rows.ok() || !rows->FindColumn("Total Active(MB)") || rows->FindColumn("Stream Ptr")) {
    return false;
  }
  const auto component = rows->FindColumn("Component");
  while (component) {
    const Result<bool> has_rows = rows->NextBatch();
    if (!has_rows.ok() || !*has_rows) break;
    for (size_t row = 0; row < rows->size(); ++row) {
      const std::string_view name = rows->cell(row, *component);
      if (name.starts_with("PTA") || name == "WORKSPACE") return false;
      if (name.starts_with("MindSpore")) return true;
    }
  }
  return true;
}

Result<CsvTable> OpenTable(const TextInput& input, const ReadOptions& options,
                           store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(CsvRows rows, CsvRows::Open(input, options, out.issues));
  return CsvTable(std::move(rows), out);
}

// MindSpore's Name is "frame;frame/kernel" where stacks were recorded: "a.py(3): f;b.py(7): g/mm".
// Function names hold no slash; a kernel's may. The stacks are those of the operators.
std::string_view WithoutStack(std::string_view name) {
  const size_t frame = name.rfind("): ");
  const size_t cut = frame == name.npos ? name.npos : name.find('/', frame);
  return cut == name.npos ? name : name.substr(cut + 1);
}

void RemoveStacks(store::TraceStore& out) {
  std::vector<StringId> kernel_of(out.strings.size(), StringId::kEmpty);  // by name, once looked at
  for (size_t i = 0; i < out.kernels.size(); ++i) {
    const StringId name = out.kernels.name[i];
    StringId& kernel = kernel_of[static_cast<size_t>(name)];
    if (kernel == StringId::kEmpty) {
      const std::string text(out.strings.Get(name));
      const std::string_view plain = WithoutStack(text);
      kernel = plain.size() < text.size() ? out.strings.Intern(plain) : name;
    }
    if (kernel != name) out.kernels.name.Set(i, kernel);
  }
}

}  // namespace

Status ReadKernelDetails(const TextInput& input, const ReadOptions& options,
                         store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(CsvTable table, OpenTable(input, options, out));
  store::KernelTable& kernels = out.kernels;
  // Level 0 has neither.
  const Need ids = table.AllOrNone({"Task ID", "Stream ID"});
  const Need tensors = table.AllOrNone({"Input Data Types", "Input Formats", "Output Shapes",
                                        "Output Data Types", "Output Formats"});
  table.Int({"Step Id", "Step ID"}, kernels.step, kOptional);
  table.Int({"Device_id", "Device ID"}, kernels.device, kOptional);
  table.Int({"Model ID"}, kernels.model_id, kOptional);
  table.Int({"Task ID"}, kernels.task_id, ids);
  table.Int({"Stream ID"}, kernels.stream, ids);
  table.Int({"Context ID"}, kernels.context_id, kOptional);
  table.Text({"Name", "Op Name"}, kernels.name);
  table.Text({"Type", "OP Type"}, kernels.type);
  table.Text({"Accelerator Core", "Task Type"}, kernels.core);
  table.Text({"OP State"}, kernels.state, kOptional);
  table.Us({"Start Time(us)", "Task Start Time(us)"}, kernels.begin_ns);
  table.DurationUs({"Duration(us)", "Task Duration(us)"}, kernels.dur_ns);
  table.Us({"Wait Time(us)", "Task Wait Time(us)"}, kernels.wait_ns);
  table.Int({"Block Dim", "Block Num"}, kernels.block_dim, tensors);
  table.Int({"Mix Block Dim", "Mix Block Num"}, kernels.mix_block_dim, kOptional);
  table.Text({"HF32 Eligible"}, kernels.hf32, kOptional);
  table.Shapes({"Input Shapes"}, kernels.input_shapes, tensors);
  table.Text({"Input Data Types"}, kernels.input_types, tensors);
  table.Text({"Input Formats"}, kernels.input_formats, tensors);
  table.Shapes({"Output Shapes"}, kernels.output_shapes, tensors);
  table.Text({"Output Data Types"}, kernels.output_types, tensors);
  table.Text({"Output Formats"}, kernels.output_formats, tensors);
  table.Metrics(out.kernel_metrics, kernels.size());
  SL_RETURN_IF_ERROR(table.ReadInto(kernels));
  RemoveStacks(out);
  return {};
}

Status ReadOperatorDetails(const TextInput& input, const ReadOptions& options,
                           store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(CsvTable table, OpenTable(input, options, out));
  store::OperatorDetailTable& operators = out.operator_details;
  // MindSpore writes the first two columns only.
  const Need need = table.header().size() <= 2 ? kOptional : Need::kRequired;
  table.Text({"Name"}, operators.name);
  table.Lines({"Input Shapes"}, operators.input_shapes);
  table.Lines({"Call Stack"}, operators.call_stack, need);
  table.Us({"Host Self Duration(us)"}, operators.host_self_ns, need);
  table.Us({"Host Total Duration(us)"}, operators.host_total_ns, need);
  table.Us({"Device Self Duration(us)"}, operators.device_self_ns, need);
  table.Us({"Device Total Duration(us)"}, operators.device_total_ns, need);
  table.Us({"Device Self Duration With AICore(us)"}, operators.device_self_aicore_ns, need);
  table.Us({"Device Total Duration With AICore(us)"}, operators.device_total_aicore_ns, need);
  return table.ReadInto(operators);
}

Status ReadOperatorMemory(const TextInput& input, const ReadOptions& options,
                          store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(CsvTable table, OpenTable(input, options, out));
  store::AllocationTable& blocks = out.allocations;
  // The exporter's file and older ones have no active memory.
  const Need active = table.AllOrNone({"Active Release Time(us)", "Active Duration(us)",
                                       "Allocation Total Active(MB)", "Release Total Active(MB)"});
  table.Text({"Name"}, blocks.name);
  table.Bytes({"Size(KB)"}, blocks.size_bytes);
  table.Us({"Allocation Time(us)"}, blocks.alloc_ns);
  table.Us({"Release Time(us)"}, blocks.release_ns, active);
  table.Us({"Active Release Time(us)"}, blocks.active_release_ns, active);
  table.Us({"Duration(us)"}, blocks.dur_ns);
  table.Us({"Active Duration(us)"}, blocks.active_dur_ns, active);
  table.Bytes({"Allocation Total Allocated(MB)", "Allocation Total Allocated(KB)"},
              blocks.alloc_total_allocated_bytes);
  table.Bytes({"Allocation Total Reserved(MB)", "Allocation Total Reserved(KB)"},
              blocks.alloc_total_reserved_bytes);
  table.Bytes({"Allocation Total Active(MB)"}, blocks.alloc_total_active_bytes, active);
  table.Bytes({"Release Total Allocated(MB)", "Release Total Allocated(KB)"},
              blocks.release_total_allocated_bytes);
  table.Bytes({"Release Total Reserved(MB)", "Release Total Reserved(KB)"},
              blocks.release_total_reserved_bytes);
  table.Bytes({"Release Total Active(MB)"}, blocks.release_total_active_bytes, active);
  table.Int({"Stream Ptr"}, blocks.stream_ptr, kOptional);
  table.Text({"Device Type", "Device"}, blocks.device);
  return table.ReadInto(blocks);
}

Status ReadMemoryRecord(const TextInput& input, const ReadOptions& options,
                        store::TraceStore& out) {
  const bool is_mindspore = IsMindSporeMemoryRecord(input, options);
  SL_ASSIGN_OR_RETURN(CsvTable table, OpenTable(input, options, out));
  store::MemorySampleTable& samples = out.memory_samples;
  const double kb_per_mb = is_mindspore ? 1000 : 1024;  // in this file only
  // Older files and the exporter's have neither.
  const Need active = table.AllOrNone({"Total Active(MB)", "Stream Ptr"});
  table.Text({"Component"}, samples.component);
  table.Us({"Timestamp(us)"}, samples.ts_ns);
  table.Bytes({"Total Allocated(MB)", "Total Allocated(KB)"}, samples.allocated_bytes,
              Need::kRequired, kb_per_mb);
  table.Bytes({"Total Reserved(MB)", "Total Reserved(KB)"}, samples.reserved_bytes, Need::kRequired,
              kb_per_mb);
  table.Bytes({"Total Active(MB)"}, samples.active_bytes, active, kb_per_mb);
  table.Int({"Stream Ptr"}, samples.stream_ptr, is_mindspore ? kOptional : active);
  table.Text({"Device Type", "Device"}, samples.device);
  return table.ReadInto(samples);
}

Status ReadModuleMemory(const TextInput& input, const ReadOptions& options,
                        store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(CsvTable table, OpenTable(input, options, out));
  store::ModuleMemoryTable& modules = out.module_memory;
  table.Text({"Component"}, modules.component);
  table.Us({"Timestamp(us)"}, modules.ts_ns);
  table.Bytes({"Total Reserved(MB)", "Total Reserved(KB)"}, modules.reserved_bytes);
  table.Text({"Device", "Device Type"}, modules.device);
  return table.ReadInto(modules);
}

Status ReadStepTrace(const TextInput& input, const ReadOptions& options, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(CsvTable table, OpenTable(input, options, out));
  store::StepTraceTable& steps = out.step_traces;
  table.Int({"Device_id", "Device ID"}, steps.device, kOptional);
  table.Int({"Step"}, steps.step);
  table.Number({"Computing"}, steps.computing_us);
  table.Number({"Communication(Not Overlapped)"}, steps.comm_not_overlapped_us);
  table.Number({"Overlapped"}, steps.overlapped_us);
  table.Number({"Communication"}, steps.communication_us);
  table.Number({"Free"}, steps.free_us);
  table.Number({"Stage"}, steps.stage_us);
  table.Number({"Bubble"}, steps.bubble_us);
  table.Number({"Communication(Not Overlapped and Exclude Receive)"},
               steps.comm_exclude_receive_us);
  table.Number({"Preparing"}, steps.preparing_us, kOptional);
  return table.ReadInto(steps);
}

Status ReadOpStatistic(const TextInput& input, const ReadOptions& options, store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(CsvTable table, OpenTable(input, options, out));
  store::OpStatisticTable& types = out.op_statistics;
  table.Int({"Device_id", "Device ID"}, types.device, kOptional);
  table.Text({"OP Type"}, types.type);
  table.Text({"Core Type"}, types.core);
  table.Int({"Count"}, types.count);
  table.Number({"Total Time(us)"}, types.total_us);
  table.Number({"Min Time(us)"}, types.min_us);
  table.Number({"Avg Time(us)"}, types.avg_us);
  table.Number({"Max Time(us)"}, types.max_us);
  table.Number({"Ratio(%)"}, types.ratio_percent);
  return table.ReadInto(types);
}

Status ReadApiStatistic(const TextInput& input, const ReadOptions& options,
                        store::TraceStore& out) {
  SL_ASSIGN_OR_RETURN(CsvTable table, OpenTable(input, options, out));
  store::ApiStatisticTable& calls = out.api_statistics;
  table.Text({"Device_id", "Device ID"}, calls.device, kOptional);
  table.Text({"Level"}, calls.level);
  table.Text({"API Name"}, calls.name);
  table.Number({"Time(us)"}, calls.total_us);
  table.Int({"Count"}, calls.count);
  table.Number({"Avg(us)"}, calls.avg_us);
  table.Number({"Min(us)"}, calls.min_us);
  table.Number({"Max(us)"}, calls.max_us);
  table.Number({"Variance"}, calls.variance);
  return table.ReadInto(calls);
}

}  // namespace steplens::readers
