#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/thread_pool.h"
#include "store/data_pipeline.h"
#include "store/trace_store.h"

// The deliverables of one rank, written from its store: the same files whether the store came from
// raw data, result files or a db. What the store does not hold is not invented; docs/export.md
// lists what that means per file. Files appear whole or not at all, and their bytes depend on the
// store and the options alone, never on the number of threads.

namespace steplens::exporting {

struct ExportOptions {
  // The args of a slice as JSON text, empty if it has none. Must be safe to call from several
  // threads. Not set: args are made of the columns of the store.
  std::function<std::string(store::SliceId slice)> args_of;
  // The store is a raw capture (analysis::CompleteForExport): it has no sums of memory rows yet,
  // and gets the files that only the newest versions of the reference write (task_time.csv), too.
  bool is_raw = false;
};

// Every text file of ASCEND_PROFILER_OUTPUT that has rows, into `dir`, which is created: the files
// of torch_npu, or of MindSpore if the store's source is ascend_ms. Result tables the store holds
// (step_traces, op_statistics, comm_times, ...) are written as they are; those it lacks are
// computed from the timeline. Files of a name that is not written are left alone.
Status WriteText(const store::TraceStore& store, const ExportOptions& options,
                 const std::string& dir, ThreadPool& pool);

// ascend_pytorch_profiler[_<rank>].db and analysis.db (MindSpore:
// ascend_mindspore_profiler_<rank>.db and communication_analyzer.db) into `dir`, which is created.
Status WriteDb(const store::TraceStore& store, const ExportOptions& options, const std::string& dir,
               ThreadPool& pool);

// minddata_pipeline_raw_<number>.csv and, if nothing is missing of the pipeline,
// minddata_pipeline_summary_<number>.csv and .json, into `dir`, which is created.
Status WriteDataPipeline(const store::DataPipeline& pipeline, const std::string& dir);

// profiler_info_<rank>.json into `dir`; it says which rank the capture is of, and no more.
Status WriteProfilerInfo(const store::TraceStore& store, const std::string& dir);

// profiler_metadata.json of the facts about the run that the store has beside its configuration;
// no file if there are none.
Status WriteProfilerMetadata(const store::TraceStore& store, const std::string& path);

// trace_view.json at the path; packed if the name ends in ".gz".
Status WriteChromeTrace(const store::TraceStore& store, const ExportOptions& options,
                        const std::string& path);

// The timelines of all ranks as one trace of Perfetto (.pftrace; packed if the name ends in ".gz"):
// tracks, slices, arrows, moments and counters. Ranks without a timeline have their kernels.
Status WritePerfetto(const store::Job& job, const std::string& path);

enum class StackMetric : uint8_t { kHostSelfTime, kDeviceSelfTime };
// "self_cpu_time_total" and "self_npu_time_total"; anything else is an error.
Result<StackMetric> ParseStackMetric(std::string_view name);
// One line per operator with a call stack and positive time: frames outermost to innermost joined
// by ';', a space, whole microseconds. Flame-graph tools read it.
Status WriteStacks(const store::TraceStore& store, StackMetric metric, const std::string& path);

// The memory of one device ("cpu", "npu:0"; any case) over time by category. The form follows the
// name: .html, .json, .json.gz, or raw.json.gz; anything else is an error. kNotFound if the device
// has no allocations.
Status WriteMemoryTimeline(const store::TraceStore& store, std::string_view device,
                           const std::string& path);

}  // namespace steplens::exporting
