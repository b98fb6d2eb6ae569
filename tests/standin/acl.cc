// Stand-in for libmsprofiler.so: the states, checks and codes of the vendor's ACL profiling
// interface.
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "faults.h"

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace {

enum Code : int {
  kOk = 0,
  kBadParameter = 100000,
  kRepeatInitialise = 100002,
  kBadValue = 100010,
  kAlreadyRun = 100042,
  kFeatureUnsupported = 200006,
  kUnsupported = 200007,
  kConflict = 148047,
};

constexpr uint64_t kMsprofTx = 0x80;
// The public switches 0x1 .. 0x8000 but 0x400, those above, and the internal ones.
constexpr uint64_t kKnownSwitches =
    0xFBFF | 0x1000000 | 0x400000000 | 0x800000000 | 0x4000000 | 0xC000000000000000;
constexpr uint32_t kDevices = 8;

struct Config {
  uint64_t mask = 0;
  std::set<uint32_t> devices;
};

struct Step {
  bool start_set = false;
  bool end_set = false;
  uint64_t index = 0;
};

std::mutex mutex;  // guards what follows
bool is_open = false;
bool is_running = false;
uint64_t running_mask = 0;
std::string folder;
int starts = 0;
uint64_t steps = 0;

bool IsText(const char* text, size_t length, size_t limit) {
  return text != nullptr && length > 0 && length < limit && std::strlen(text) == length;
}

// What the vendor's library switches on with a switch.
uint64_t Widen(uint64_t mask) {
  constexpr uint64_t kTaskTime = 0x2, kL0 = 0x800, kL2 = 0x2000, kL3 = 0x8000, kAttr = 0x4000;
  if ((mask & kL3) != 0) mask |= kL0 | kTaskTime | kL2;
  if ((mask & (kL2 | kAttr)) != 0) mask |= kL0 | kTaskTime;
  if ((mask & kTaskTime) != 0) mask |= kL0;
  if ((mask & kL0) != 0) mask |= 0x40;  // training trace
  return mask | 0x4000000000000000ULL;  // AI CPU models
}

void MakeProfFolder() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  tm local;
  localtime_r(&now.tv_sec, &local);
  char time_text[32];
  std::strftime(time_text, sizeof(time_text), "%Y%m%d%H%M%S", &local);
  char name[96];
  std::snprintf(name, sizeof(name), "PROF_%06d_%s%03d_%08dABCDEFGH", ++starts % 1000000, time_text,
                static_cast<int>(now.tv_nsec / 1000000), static_cast<int>(getpid()));
  const std::string path = folder + "/" + name;
  mkdir(path.c_str(), 0750);
  mkdir((path + "/host").c_str(), 0750);
  mkdir((path + "/device_0").c_str(), 0750);
}

}  // namespace

STANDIN_API int aclprofInit(const char* path, size_t length) {
  STANDIN_CALL("aclprofInit", "aclprofInit %s %zu", path != nullptr ? path : "NULL", length);
  if (!IsText(path, length, 4096)) return kBadParameter;
  const char* mode = std::getenv("PROFILING_MODE");
  if (mode != nullptr && std::strcmp(mode, "dynamic") == 0) return kFeatureUnsupported;
  const std::lock_guard lock(mutex);
  if (is_open) return kRepeatInitialise;
  is_open = true;
  folder = path;
  return kOk;
}

STANDIN_API int aclprofFinalize() {
  STANDIN_CALL("aclprofFinalize", "aclprofFinalize");
  const std::lock_guard lock(mutex);
  is_open = false;
  is_running = false;
  return kOk;
}

// Nobody can do without this one: the broken make keeps it to itself.
#ifdef STANDIN_BROKEN
#define STANDIN_ESSENTIAL extern "C" __attribute__((visibility("hidden"), used))
#else
#define STANDIN_ESSENTIAL STANDIN_API
#endif
STANDIN_ESSENTIAL void* aclprofCreateConfig(uint32_t* ids, uint32_t count, int metrics,
                                            const void* events, uint64_t mask) {
  standin::Log("aclprofCreateConfig devices=%u metrics=%d mask=0x%llx", count, metrics,
               static_cast<unsigned long long>(mask));
  static std::atomic<int> calls{0};
  if (standin::Planted("aclprofCreateConfig", calls, 0) != 0) return nullptr;
  if ((ids == nullptr && count > 0) || events != nullptr || count > kDevices) return nullptr;
  if (count == 0 && (mask & kMsprofTx) == 0) return nullptr;
  auto* config = new Config;
  for (uint32_t i = 0; i < count; ++i) {
    if (ids[i] < kDevices && config->devices.insert(ids[i]).second) continue;
    delete config;
    return nullptr;
  }
  config->mask = Widen(mask);
  config->devices.insert(64);  // the host
  return config;
}

STANDIN_API int aclprofDestroyConfig(void* config) {
  STANDIN_CALL("aclprofDestroyConfig", "aclprofDestroyConfig");
  if (config == nullptr) return kBadParameter;
  delete static_cast<Config*>(config);
  return kOk;
}

STANDIN_API int aclprofStart(void* pointer) {
  STANDIN_CALL("aclprofStart", "aclprofStart");
  const auto* config = static_cast<const Config*>(pointer);
  if (config == nullptr || config->mask == 0) return kBadParameter;
  if ((config->mask & ~kKnownSwitches) != 0) return kUnsupported;
  const std::lock_guard lock(mutex);
  if (!is_open) {
    is_open = true;
    folder = ".";
  }
  if (is_running) return running_mask == config->mask ? kOk : kBadValue;
  is_running = true;
  running_mask = config->mask;
  MakeProfFolder();
  return kOk;
}

STANDIN_API int aclprofStop(void* pointer) {
  STANDIN_CALL("aclprofStop", "aclprofStop");
  const auto* config = static_cast<const Config*>(pointer);
  if (config == nullptr) return kBadParameter;
  usleep(static_cast<useconds_t>(standin::Setting("STANDIN_SLOW_STOP_MS", 0) * 1000));
  const std::lock_guard lock(mutex);
  if (!is_running) return kOk;
  if (running_mask != config->mask) return kBadValue;
  is_running = false;
  return kOk;
}

STANDIN_API int aclrtSynchronizeDevice() {
  STANDIN_CALL("aclrtSynchronizeDevice", "aclrtSynchronizeDevice");
  return kOk;
}

STANDIN_API void* aclprofCreateStepInfo() {
  standin::Log("aclprofCreateStepInfo");
  const std::lock_guard lock(mutex);
  auto* step = new Step;
  step->index = ++steps;
  return step;
}

STANDIN_API int aclprofGetStepTimestamp(void* pointer, int tag, void*) {
  auto* step = static_cast<Step*>(pointer);
  STANDIN_CALL("aclprofGetStepTimestamp", "aclprofGetStepTimestamp step=%llu tag=%d",
               step != nullptr ? static_cast<unsigned long long>(step->index) : 0ULL, tag);
  constexpr int kMindSporeStart = 60000;  // that framework's numbers for 0 and 1
  const int number = tag >= kMindSporeStart ? tag - kMindSporeStart : tag;
  if (step == nullptr || (number != 0 && number != 1)) return kBadParameter;
  bool& is_set = number == 0 ? step->start_set : step->end_set;
  if (is_set) return kBadParameter;
  is_set = true;
  return kOk;
}

STANDIN_API void aclprofDestroyStepInfo(void* step) {
  standin::Log("aclprofDestroyStepInfo");
  delete static_cast<Step*>(step);
}

#ifndef STANDIN_OLD

STANDIN_API int aclprofWarmup(void* config) {
  STANDIN_CALL("aclprofWarmup", "aclprofWarmup");
  if (config == nullptr) return kBadParameter;
  const std::lock_guard lock(mutex);
  return is_running ? kConflict : kOk;
}

STANDIN_API int aclprofSetConfig(int type, const char* value, size_t length) {
  STANDIN_CALL("aclprofSetConfig", "aclprofSetConfig %d=%s", type,
               value != nullptr ? value : "NULL");
  if (type < 1 || type >= 17 || length > 256 || !IsText(value, length, 257)) return kBadParameter;
  const int number = std::atoi(value);
  if ((type == 3 || type == 5) && (number < 1 || number > 100)) return kBadValue;
  if (type == 6 && (number < 1 || number > 50)) return kBadValue;
  return kOk;
}

STANDIN_API int aclprofRegisterDeviceCallback() {
  STANDIN_CALL("aclprofRegisterDeviceCallback", "aclprofRegisterDeviceCallback");
  return kOk;
}

STANDIN_API int aclprofMarkEx(const char* message, size_t length, void* stream) {
  STANDIN_CALL("aclprofMarkEx", "aclprofMarkEx %s", message != nullptr ? message : "NULL");
  return IsText(message, length, 156) && stream != nullptr ? kOk : kBadParameter;
}

namespace {

// The vendor's objects begin with the pointer of their class; here it is never followed.
struct Feature {
  void* class_pointer;
  char name[64];
  void* info_class_pointer;
  char compatibility[16];
  char version[16];
  char component[16];
  char component_version[16];
  char log[128];
};
static_assert(sizeof(Feature) == 272);
Feature features[] = {{nullptr, "ATTR", nullptr, "0", "2", "all", "all", ""},
                      {nullptr, "AICORE_SHAPE", nullptr, "0", "1", "all", "all", ""}};

}  // namespace

STANDIN_API int aclprofGetSupportedFeaturesV2(size_t* count, void** records) {
  STANDIN_CALL("aclprofGetSupportedFeaturesV2", "aclprofGetSupportedFeaturesV2");
  if (count == nullptr || records == nullptr || *records != nullptr) return kBadParameter;
  *count = 2;
  *records = features;
  return kOk;
}

#endif
