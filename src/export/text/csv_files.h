#pragma once

#include <string>

#include "base/status.h"
#include "export/export.h"
#include "export/timeline.h"
#include "store/trace_store.h"

// The csv files of ASCEND_PROFILER_OUTPUT, one function each; `dir` must exist. A file without rows
// is not created. Where the store holds the table of a file it is written as it is, otherwise it is
// computed. MindSpore's variants are written for stores of source ascend_ms.

namespace steplens::exporting {

bool IsMindSpore(const store::TraceStore& store);

// Level0 has fewer columns, and no statistics. Of raw captures of torch_npu they are those of its
// newest versions: Device_id first, Block Num.
Status WriteKernelDetails(const store::TraceStore& store, const ExportOptions& options,
                          const std::string& dir);
Status WriteOpStatistic(const store::TraceStore& store, const ExportOptions& options,
                        const std::string& dir);
Status WriteApiStatistic(const store::TraceStore& store, const ExportOptions& options,
                         const std::string& dir);
Status WriteStepTraceTime(const store::TraceStore& store, const ExportOptions& options,
                          const std::string& dir);

// What ran on the streams, task by task; not where the store has the exporter's own file.
Status WriteTaskTime(const store::TraceStore& store, const Timeline& timeline,
                     const std::string& dir);

Status WriteOperatorDetails(const store::TraceStore& store, const std::string& dir);
Status WriteDataset(const store::TraceStore& store, const Timeline& timeline,
                    const std::string& dir);

Status WriteMemoryRecord(const store::TraceStore& store, const ExportOptions& options,
                         const std::string& dir);
Status WriteOperatorMemory(const store::TraceStore& store, const std::string& dir);
Status WriteNpuModuleMem(const store::TraceStore& store, const std::string& dir);

// l2_cache.csv, nic.csv, ...: the files the store keeps as they are.
Status WriteSheet(const store::DynamicTable& sheet, const store::TraceStore& store,
                  const std::string& dir);

}  // namespace steplens::exporting
