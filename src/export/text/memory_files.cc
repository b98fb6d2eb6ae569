#include "export/text/csv_file.h"
#include "export/text/csv_files.h"

namespace steplens::exporting {
namespace {

using store::TraceStore;

constexpr double kKb = 1024;

// MindSpore counts 1000 KB as one MB.
double MbOf(const TraceStore& store) { return IsMindSpore(store) ? kKb * 1000 : kKb * 1024; }

}  // namespace

Status WriteMemoryRecord(const TraceStore& store, const std::string& dir) {
  const store::MemorySampleTable& samples = store.memory_samples;
  std::vector<std::string> header = {
      "Component",        "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)",
      "Total Active(MB)", "Stream Ptr",    "Device Type"};
  const bool has_stream = !IsMindSpore(store);
  if (!has_stream) header.erase(header.end() - 2);
  CsvFile csv(dir + "/memory_record.csv", header);
  const double mb = MbOf(store);
  for (size_t i = 0; i < samples.size(); ++i) {
    csv.Text(store.Text(samples.component[i]));
    csv.Us(samples.ts_ns[i]);
    csv.Bytes(samples.allocated_bytes[i], mb);
    csv.Bytes(samples.reserved_bytes[i], mb);
    csv.Bytes(samples.active_bytes[i], mb);
    if (has_stream) csv.Int(samples.stream_ptr[i]);
    csv.Text(store.Text(samples.device[i]));
    csv.EndRow();
  }
  return csv.Commit();
}

Status WriteOperatorMemory(const TraceStore& store, const std::string& dir) {
  const store::AllocationTable& blocks = store.allocations;
  const std::string header[] = {"Name",
                                "Size(KB)",
                                "Allocation Time(us)",
                                "Release Time(us)",
                                "Active Release Time(us)",
                                "Duration(us)",
                                "Active Duration(us)",
                                "Allocation Total Allocated(MB)",
                                "Allocation Total Reserved(MB)",
                                "Allocation Total Active(MB)",
                                "Release Total Allocated(MB)",
                                "Release Total Reserved(MB)",
                                "Release Total Active(MB)",
                                "Stream Ptr",
                                "Device Type"};
  CsvFile csv(dir + "/operator_memory.csv", header);
  const double mb = MbOf(store);
  const std::string_view missing = IsMindSpore(store) ? "N/A" : "";
  for (size_t i = 0; i < blocks.size(); ++i) {
    csv.Text(store.Text(blocks.name[i]));
    csv.Bytes(blocks.size_bytes[i], kKb);
    for (const auto* column : {&blocks.alloc_ns, &blocks.release_ns, &blocks.active_release_ns,
                               &blocks.dur_ns, &blocks.active_dur_ns})
      csv.Us((*column)[i], missing);
    for (const auto* column :
         {&blocks.alloc_total_allocated_bytes, &blocks.alloc_total_reserved_bytes,
          &blocks.alloc_total_active_bytes, &blocks.release_total_allocated_bytes,
          &blocks.release_total_reserved_bytes, &blocks.release_total_active_bytes})
      csv.Bytes((*column)[i], mb, missing);
    csv.Int(blocks.stream_ptr[i], missing);
    csv.Text(store.Text(blocks.device[i]));
    csv.EndRow();
  }
  return csv.Commit();
}

Status WriteNpuModuleMem(const TraceStore& store, const std::string& dir) {
  const store::ModuleMemoryTable& modules = store.module_memory;
  // As the device exporter has it, which knows nothing of MindSpore's megabytes.
  constexpr double kMb = kKb * 1024;
  const std::string header[] = {"Component", "Timestamp(us)", "Total Reserved(MB)", "Device"};
  CsvFile csv(dir + "/npu_module_mem.csv", header);
  for (size_t i = 0; i < modules.size(); ++i) {
    csv.Text(store.Text(modules.component[i]));
    csv.Us(modules.ts_ns[i]);
    csv.Bytes(modules.reserved_bytes[i], kMb);
    csv.Text(store.Text(modules.device[i]));
    csv.EndRow();
  }
  return csv.Commit();
}

Status WriteSheet(const store::DynamicTable& sheet, const TraceStore& store,
                  const std::string& dir) {
  std::vector<std::string> header;
  for (const store::DynamicColumn& column : sheet.columns) header.push_back(column.name);
  CsvFile csv(dir + "/" + sheet.name + ".csv", header);
  for (size_t row = 0; row < sheet.size(); ++row) {
    for (const store::DynamicColumn& column : sheet.columns) {
      if (column.is_text()) {
        csv.Text(store.Text(column.texts[row]));
      } else {
        csv.ShortNumber(
            row < column.numbers.size() ? column.numbers[row] : store::NotKnown<double>(), "N/A");
      }
    }
    csv.EndRow();
  }
  return csv.Commit();
}

}  // namespace steplens::exporting
