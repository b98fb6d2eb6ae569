#include "analysis/cpu_device/complete.h"

#include <algorithm>

#include "analysis/classify/classify.h"
#include "analysis/cpu_device/cpu_device.h"
#include "analysis/cpu_device/memory_rows.h"
#include "analysis/cpu_device/operator_links.h"
#include "analysis/steps/kernel_steps.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

bool HasPrefix(const TraceStore& store, std::string_view prefix) {
  return std::any_of(store.meta.name.begin(), store.meta.name.end(),
                     [&](StringId name) { return store.Text(name).starts_with(prefix); });
}

}  // namespace

bool IsHostTheDevice(const TraceStore& store) {
  if (store.strings.Find("dequeue")) return false;  // a task queue feeds an accelerator
  const auto is_prof = [](const store::InputFile& file) {
    return file.path.find("/PROF_") != std::string::npos;
  };
  if (std::any_of(store.info.files.begin(), store.info.files.end(), is_prof)) return false;
  const std::vector<TrackKind> kinds = ClassifyTracks(store);
  if (DetectPlatform(store, kinds) != Platform::kHostOnly) return false;
  // Another profiler's capture of an accelerator's host alone.
  return HasPrefix(store, "steplens_") || !HasPrefix(store, "cann_version");
}

namespace {

void Complete(TraceStore& store, OverlapSlices slices) {
  if (IsHostTheDevice(store)) {
    AppendCpuDevice(store, slices);
  } else {
    AppendOperatorLinks(store);
  }
  FillKernelSteps(store);
  OrderMemoryRows(store);
}

}  // namespace

void CompleteRawCapture(TraceStore& store) { Complete(store, OverlapSlices::kAdded); }

void CompleteForExport(TraceStore& store) {
  Complete(store, OverlapSlices::kLeftOut);
  std::erase_if(store.sheets, [](const store::DynamicTable& sheet) {
    return sheet.name.starts_with("framework_");
  });
  store.slices.args_offset = {};  // there is no trace text yet
  store.slices.args_size = {};
  store.host_ops.module_hierarchy = {};
}

}  // namespace steplens::analysis
