#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/time_math.h"
#include "export/text/csv_file.h"
#include "export/text/csv_files.h"

namespace steplens::exporting {
namespace {

using store::kNoId;
using store::kNone;
using store::TraceStore;

// The places of the device's slices in the order of their starts.
std::vector<uint32_t> ByStart(const TraceStore& store, const DeviceIndex& index) {
  std::vector<uint32_t> places(index.slices.size());
  std::iota(places.begin(), places.end(), 0);
  const auto earlier = [&](uint32_t a, uint32_t b) {
    return store.slices.begin_ns[index.slices[a]] < store.slices.begin_ns[index.slices[b]];
  };
  if (!std::is_sorted(places.begin(), places.end(), earlier))
    std::stable_sort(places.begin(), places.end(), earlier);
  return places;
}

}  // namespace

Status WriteTaskTime(const TraceStore& store, const Timeline& timeline, const std::string& dir) {
  const bool is_there = std::any_of(store.sheets.begin(), store.sheets.end(),
                                    [](const auto& sheet) { return sheet.name == "task_time"; });
  if (is_there || IsMindSpore(store)) return {};
  const std::string header[] = {"Device_id", "kernel_name",   "kernel_type",    "stream_id",
                                "task_id",   "task_time(us)", "task_start(us)", "task_stop(us)"};
  CsvFile csv(dir + "/task_time.csv", header);
  RenderedTexts texts(
      store, [](std::string_view text) { return CsvText(text.empty() ? kNotKnown : text); });
  const DeviceIndex index(store, timeline);
  for (const uint32_t place : ByStart(store, index)) {
    const uint32_t slice = index.slices[place];
    const uint32_t kernel = index.kernel_of[place];
    const uint32_t comm_task = index.comm_task_of[place];
    const TrackFacts& track = timeline.of(store.slices.track[slice]);
    int64_t task_id = kNone;
    if (kernel != kNoId) task_id = store.kernels.task_id[kernel];
    if (comm_task != kNoId) task_id = store.comm_tasks.task_id[comm_task];
    const int64_t begin_ns = store.slices.begin_ns[slice];
    const int64_t dur_ns = store.slices.dur_ns[slice];
    csv.Int(track.device);
    csv.Rendered(texts[kernel == kNoId ? StringId::kEmpty : store.kernels.name[kernel]]);
    csv.Rendered(texts[store.slices.category[slice]]);
    csv.Int(track.tid);
    csv.Int(task_id, kNotKnown);
    csv.PlainUs(dur_ns);
    csv.Us(begin_ns);
    csv.Us(analysis::EndNs(begin_ns, dur_ns));
    csv.EndRow();
  }
  return csv.Commit();
}

}  // namespace steplens::exporting
