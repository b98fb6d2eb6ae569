#include "analysis/classify/cpu_words.h"

#include <algorithm>

namespace steplens::analysis {

bool IsCpuCapture(const store::TraceStore& store) {
  const auto device = store.FindMeta("steplens_host.device");
  return device && *device == "cpu";
}

bool SaysNpu(const store::TraceStore& store) {
  if (const auto device = store.FindMeta("steplens_host.device")) return *device == "npu";
  const bool is_ours =
      std::any_of(store.meta.name.begin(), store.meta.name.end(),
                  [&](StringId name) { return store.Text(name).starts_with("steplens_"); });
  if (is_ours) return false;  // it did not say
  const auto activities = store.FindMeta("config.common_config.activities");
  return activities && activities->find("NPU") != activities->npos;
}

}  // namespace steplens::analysis
