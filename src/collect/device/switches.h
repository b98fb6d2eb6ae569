#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steplens/device.h"

namespace steplens::collect {

// The vendor's data type bits.
enum AclSwitch : uint64_t {
  kAclApi = 0x1,
  kTaskTime = 0x2,
  kAicoreMetrics = 0x4,
  kAicpu = 0x8,
  kL2Cache = 0x10,
  kHcclTrace = 0x20,
  kMsprofTx = 0x80,
  kRuntimeApi = 0x100,
  kTaskTimeL0 = 0x800,
  kTaskMemory = 0x1000,
  kOpAttr = 0x4000,
  kAicoreShape = 0x8'0000'0000,
};

inline constexpr int kPipeUtilization = 1;
inline constexpr int kMemoryAccess = 8;
inline constexpr int kNoMetrics = 255;

// What the vendor's library says it can do beyond the usual.
struct DeviceFeatures {
  bool op_attr = false;
  bool memory_access = false;
  bool aicore_shape = false;
};

// The vendor's keys of aclprofSetConfig that we use.
enum AclConfigKey {
  kMemoryFrequency = 3,
  kIoFrequency = 5,
  kInterconnectFrequency = 6,
  kHostSys = 8
};

struct DeviceSwitches {
  uint64_t mask = 0;
  int metrics = kNoMetrics;
  int first_step_tag = 0;  // of the begin of a step; the end has the next
  std::vector<std::pair<int, std::string>> settings;  // key and value, in the order to set them
};

// What a configuration means to the vendor's library.
DeviceSwitches MakeSwitches(const sl_device_config& config, const DeviceFeatures& features);

// A record of aclprofGetSupportedFeatures: a C++ object of the vendor; we only look at its texts.
struct FeatureRecord {
  void* vtable;
  char name[64];
  void* info_vtable;
  char compatibility[16];
  char feature_version[16];
  char component[16];
  char component_version[16];
  char log[128];
};
static_assert(sizeof(FeatureRecord) == 272);

DeviceFeatures ReadFeatures(const FeatureRecord* records, size_t count);

}  // namespace steplens::collect
