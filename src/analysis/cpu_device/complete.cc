#include "analysis/cpu_device/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analysis/classify/classify.h"
#include "analysis/classify/cpu_words.h"
#include "analysis/complete/communication.h"
#include "analysis/cpu_device/application_memory.h"
#include "analysis/cpu_device/cpu_device.h"
#include "analysis/cpu_device/memory_rows.h"
#include "analysis/cpu_device/mindspore_lanes.h"
#include "analysis/cpu_device/operator_links.h"
#include "analysis/steps/kernel_steps.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

bool HasPrefix(const TraceStore& store, std::string_view prefix) {
  return std::any_of(store.meta.name.begin(), store.meta.name.end(),
                     [&](StringId name) { return store.Text(name).starts_with(prefix); });
}

}  // namespace

namespace {

void ReportMissingDevice(TraceStore& store) {
  if (store.info.level == "LevelNone" || !SaysNpu(store)) return;
  if (store.kernels.size() > 0 || store.comm_ops.size() > 0) return;
  if (DetectPlatform(store, ClassifyTracks(store)) != Platform::kHostOnly) return;
  store.issues.Add(
      store::IssueKind::kFileUnreadable,
      fmt::format("{}: {}", store.info.path,
                  store.info.has_device_folder
                      ? "PROF_* holds no task of a device, which should be in device_<n>/data"
                      : "there is no PROF_*, which should lie beside FRAMEWORK"));
}

}  // namespace

bool IsHostTheDevice(const TraceStore& store) {
  if (store.info.level == "LevelNone") return false;  // no device was to be recorded
  if (SaysNpu(store)) return false;
  if (store.strings.Find("dequeue")) return false;  // a task queue feeds an accelerator
  if (store.info.has_device_folder) return false;
  const std::vector<TrackKind> kinds = ClassifyTracks(store);
  if (DetectPlatform(store, kinds) != Platform::kHostOnly) return false;
  // Another profiler's capture of an accelerator's host alone.
  return HasPrefix(store, "steplens_") || !HasPrefix(store, "cann_version");
}

namespace {

// When the capture began and ended, on the wall clock, where its configuration says it.
void AddSessionTimes(TraceStore& store) {
  const auto number = [&](std::string_view name) {
    return ParseInt64(store.FindMeta(name).value_or(std::string_view()));
  };
  const auto begin_ns = number("start_info.start_monotonic");
  const auto end_ns = number("end_info.MonotonicTimeEnd");
  const auto wall_ns = number("end_info.collectionTimeEnd");
  if (!begin_ns || !end_ns || !wall_ns || *end_ns <= *begin_ns || store.FindMeta("startTimeNs"))
    return;
  const auto add = [&](std::string_view name, int64_t ns) {
    store.meta.Append({store.strings.Intern(name), store.strings.Intern(std::to_string(ns))});
  };
  add("startTimeNs", AddNs(*wall_ns, AddNs(*begin_ns, -*end_ns)));
  add("endTimeNs", *wall_ns);
}

// What the exporter calls aicpu is data_preprocess in the results of a framework.
void NameSheets(TraceStore& store) {
  const auto named = [&](std::string_view name) {
    return std::find_if(store.sheets.begin(), store.sheets.end(),
                        [&](const store::DynamicTable& sheet) { return sheet.name == name; });
  };
  const auto aicpu = named("aicpu");
  if (aicpu != store.sheets.end() && named("data_preprocess") == store.sheets.end())
    aicpu->name = "data_preprocess";
}

void AddDevice(TraceStore& store, OverlapSlices slices) {
  const bool is_host = IsHostTheDevice(store);
  if (is_host) {
    AppendCpuDevice(store, slices);
  } else {
    AppendOperatorLinks(store);
    FillCommunicationSizes(store);
    ReportMissingDevice(store);
  }
  if (store::IsMindSpore(store.info.source)) AddMindSporeLanes(store);
  FillKernelSteps(store);
  if (store::IsMindSpore(store.info.source)) FillMindSporeSteps(store);
  AddApplicationMemory(store, is_host);
  NameSheets(store);
  AddSessionTimes(store);
}

}  // namespace

void CompleteRawCapture(TraceStore& store) {
  AddDevice(store, OverlapSlices::kAdded);
  OrderMemoryRows(store);
  KeepCommunication(store);
}

void CompleteForExport(TraceStore& store) {
  AddDevice(store, OverlapSlices::kLeftOut);
  NameMemoryRows(store);
  store.host_ops.scope = {};
  std::erase_if(store.sheets, [](const store::DynamicTable& sheet) {
    return sheet.name.starts_with("framework_");
  });
}

}  // namespace steplens::analysis
