#include "collect/device/switches.h"

#include <charconv>
#include <cstring>
#include <string_view>

namespace steplens::collect {
namespace {

uint64_t LevelMask(int level) {
  constexpr uint64_t kLevel1 = kTaskTime | kAclApi | kHcclTrace | kAicoreMetrics;
  switch (level) {
    case 0:
      return kTaskTimeL0 | kAclApi;
    case 1:
      return kLevel1;
    case 2:
      return kLevel1 | kRuntimeApi | kAicpu;
    default:
      return 0;
  }
}

int Metrics(const sl_device_config& config, const DeviceFeatures& features) {
  if (config.level < 1) return kNoMetrics;
  if (config.aic_metrics == kMemoryAccess && !features.memory_access) return kPipeUtilization;
  const bool is_known = config.aic_metrics >= 0 && config.aic_metrics <= kMemoryAccess;
  return is_known ? config.aic_metrics : kNoMetrics;
}

// A text that may fill its array to the last byte.
template <size_t N>
std::string_view TextOf(const char (&array)[N]) {
  return {array, strnlen(array, N)};
}

int Number(std::string_view text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Whether we, who know version `ours` of a feature, can use it as the record describes it.
bool IsUsable(const FeatureRecord& record, int ours) {
  const std::string_view component = TextOf(record.component);
  if (component != "all" && component != "PTA") return false;
  if (component == "PTA" && TextOf(record.component_version) != "all") return false;
  const int theirs = Number(TextOf(record.feature_version));
  if (theirs == ours) return true;
  return theirs > ours && TextOf(record.compatibility) == "1";
}

}  // namespace

DeviceSwitches MakeSwitches(const sl_device_config& config, const DeviceFeatures& features) {
  DeviceSwitches out;
  out.mask = LevelMask(config.level);
  out.metrics = Metrics(config, features);
  if (out.metrics != kNoMetrics) out.mask |= kAicoreMetrics;
  if (config.l2_cache != 0) out.mask |= kL2Cache;
  if (config.mstx != 0) out.mask |= kMsprofTx;
  if (config.profile_memory != 0) out.mask |= kTaskMemory;
  if (config.op_attr != 0 && features.op_attr) out.mask |= kOpAttr;
  if (config.level == 0 && config.record_shapes != 0 && features.aicore_shape) {
    out.mask |= kAicoreShape;
  }
  if (config.profile_memory != 0 || config.hardware_memory != 0) {
    out.settings.emplace_back(kMemoryFrequency, config.mindspore != 0 ? "100" : "50");
  }
  if (config.mindspore != 0) out.first_step_tag = 60000;
  if (config.host_sys != nullptr && config.host_sys[0] != '\0') {
    out.settings.emplace_back(kHostSys, config.host_sys);
  }
  if (config.sys_io != 0) out.settings.emplace_back(kIoFrequency, "100");
  if (config.sys_interconnection != 0) out.settings.emplace_back(kInterconnectFrequency, "50");
  return out;
}

DeviceFeatures ReadFeatures(const FeatureRecord* records, size_t count) {
  DeviceFeatures features;
  for (size_t i = 0; i < count; ++i) {
    const FeatureRecord& record = records[i];
    const std::string_view name = TextOf(record.name);
    if (name == "ATTR") features.op_attr |= IsUsable(record, 2);
    if (name == "MemoryAccess") features.memory_access |= IsUsable(record, 2);
    if (name == "AICORE_SHAPE") features.aicore_shape |= IsUsable(record, 1);
  }
  return features;
}

}  // namespace steplens::collect
