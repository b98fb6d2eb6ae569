#include "export/memory_rows.h"
#include "export/text/csv_file.h"
#include "export/text/csv_files.h"

namespace steplens::exporting {

using store::TraceStore;

Status WriteMemoryRecord(const TraceStore& store, const ExportOptions& options,
                         const std::string& dir) {
  std::vector<std::string> header = {
      "Component",        "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)",
      "Total Active(MB)", "Stream Ptr",    "Device Type"};
  const bool has_stream = !IsMindSpore(store);
  if (!has_stream) header.erase(header.end() - 2);
  CsvFile csv(dir + "/memory_record.csv", header);
  // MindSpore counts 1000 KB as one MB in this file.
  const auto mb = [&](int64_t bytes) {
    if (has_stream || bytes == store::kNone) return csv.Mb(bytes);
    csv.Number(static_cast<double>(bytes) / (1024.0 * 1000));
  };
  RenderedTexts texts(store, CsvText);
  ForEachMemoryRow(store, options, [&](const store::MemorySampleTable::Row& sample) {
    csv.Rendered(texts[sample.component]);
    csv.Us(sample.ts_ns);
    mb(sample.allocated_bytes);
    mb(sample.reserved_bytes);
    mb(sample.active_bytes);
    if (has_stream) csv.Int(sample.stream_ptr);
    csv.Rendered(texts[sample.device]);
    csv.EndRow();
  });
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
  RenderedTexts texts(store, CsvText);
  const std::string_view missing = IsMindSpore(store) ? "N/A" : "";
  for (size_t i = 0; i < blocks.size(); ++i) {
    csv.Rendered(texts[blocks.name[i]]);
    csv.Kb(blocks.size_bytes[i]);
    for (const auto* column : {&blocks.alloc_ns, &blocks.release_ns, &blocks.active_release_ns,
                               &blocks.dur_ns, &blocks.active_dur_ns})
      csv.Us((*column)[i], missing);
    for (const auto* column :
         {&blocks.alloc_total_allocated_bytes, &blocks.alloc_total_reserved_bytes,
          &blocks.alloc_total_active_bytes, &blocks.release_total_allocated_bytes,
          &blocks.release_total_reserved_bytes, &blocks.release_total_active_bytes})
      csv.Mb((*column)[i], missing);
    csv.Int(blocks.stream_ptr[i], missing);
    csv.Rendered(texts[blocks.device[i]]);
    csv.EndRow();
  }
  return csv.Commit();
}

Status WriteNpuModuleMem(const TraceStore& store, const std::string& dir) {
  const store::ModuleMemoryTable& modules = store.module_memory;
  const std::string header[] = {"Component", "Timestamp(us)", "Total Reserved(MB)", "Device"};
  CsvFile csv(dir + "/npu_module_mem.csv", header);
  RenderedTexts texts(store, CsvText);
  for (size_t i = 0; i < modules.size(); ++i) {
    csv.Rendered(texts[modules.component[i]]);
    csv.Us(modules.ts_ns[i]);
    csv.Mb(modules.reserved_bytes[i]);  // of the device exporter, which knows no other megabytes
    csv.Rendered(texts[modules.device[i]]);
    csv.EndRow();
  }
  return csv.Commit();
}

Status WriteSheet(const store::DynamicTable& sheet, const TraceStore& store,
                  const std::string& dir) {
  std::vector<std::string> header;
  for (const store::DynamicColumn& column : sheet.columns) header.push_back(column.name);
  CsvFile csv(dir + "/" + sheet.name + ".csv", header);
  RenderedTexts texts(store, CsvText);
  for (size_t row = 0; row < sheet.size(); ++row) {
    for (const store::DynamicColumn& column : sheet.columns) {
      if (column.is_text()) {
        csv.Rendered(texts[column.texts[row]]);
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
