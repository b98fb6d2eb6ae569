#include <functional>
#include <vector>

#include "analysis/communication/communication.h"
#include "export/directory.h"
#include "export/export.h"
#include "export/text/communication_files.h"
#include "export/text/csv_files.h"
#include "export/text/trace_view.h"

namespace steplens::exporting {
namespace {

using store::TraceStore;

Status WriteCommunication(const TraceStore& store, const std::string& dir) {
  if (store.comm_times.size() == 0 && store.info.level == "Level0") return {};
  return WriteCommunicationFiles(analysis::CollectCommunication(store), IsMindSpore(store), dir);
}

// Sheets of raw data are for analyses, not for people.
bool IsDeliverable(const store::DynamicTable& sheet) {
  return !sheet.name.starts_with("framework_") && !sheet.name.starts_with("mindspore_") &&
         !sheet.name.starts_with("prof_");
}

}  // namespace

Status WriteText(const TraceStore& store, const ExportOptions& options, const std::string& dir,
                 ThreadPool& pool) {
  SL_RETURN_IF_ERROR(MakeDirectory(dir));
  const Timeline timeline(store);
  // The pool builds its index at the first look-up, which must not be one of several at once.
  static_cast<void>(store.strings.Find({}));
  std::vector<std::function<Status()>> files = {
      // The largest first, so that no core ends up alone with it.
      [&] { return WriteTraceView(store, timeline, options, dir + "/trace_view.json"); },
      [&] { return WriteOperatorDetails(store, dir); },
      [&] { return WriteKernelDetails(store, options, dir); },
      [&] { return WriteStepTraceTime(store, options, dir); },
      [&] { return WriteOpStatistic(store, options, dir); },
      [&] { return WriteApiStatistic(store, options, dir); },
      [&] { return WriteMemoryRecord(store, options, dir); },
      [&] { return WriteOperatorMemory(store, dir); },
      [&] { return WriteNpuModuleMem(store, dir); },
      [&] { return WriteCommunication(store, dir); },
      [&] { return WriteDataset(store, timeline, dir); },
  };
  if (options.is_raw) files.push_back([&] { return WriteTaskTime(store, timeline, dir); });
  for (const store::DynamicTable& sheet : store.sheets) {
    if (IsDeliverable(sheet)) files.push_back([&] { return WriteSheet(sheet, store, dir); });
  }
  std::vector<Status> results(files.size());
  pool.ParallelFor(files.size(), [&](size_t i) { results[i] = files[i](); });
  for (Status& result : results) SL_RETURN_IF_ERROR(std::move(result));
  return {};
}

Status WriteChromeTrace(const TraceStore& store, const ExportOptions& options,
                        const std::string& path) {
  return WriteTraceView(store, Timeline(store), options, path);
}

}  // namespace steplens::exporting
