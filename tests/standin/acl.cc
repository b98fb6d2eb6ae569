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
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "faults.h"
#include "prof_writer.h"

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace {

enum Code : int {
  kOk = 0,
  kBadParameter = 100000,
  kRepeatInitialise = 100002,
  kBadValue = 100010,
  kAlreadyRun = 100042,
  kNotRun = 100043,
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

std::mutex mutex;      // guards what follows
bool is_open = false;  // aclprofInit was called
bool is_running = false;
uint64_t running_mask = 0;
std::string folder;
int starts = 0;
uint64_t steps = 0;
std::shared_ptr<standin::ProfWriter> writer;  // while it runs

std::shared_ptr<standin::ProfWriter> Writer() {
  const std::lock_guard lock(mutex);
  return writer;
}

bool IsText(const char* text, size_t length, size_t limit) {
  return text != nullptr && length > 0 && length < limit && std::strlen(text) == length;
}

// The code of a call while somebody else has the profiler: the vendor's command line, or a
// subscription of models. 0: it is free.
int Conflict() {
  const char* mode = std::getenv("STANDIN_MODE");
  if (mode == nullptr) return kOk;
  return std::strcmp(mode, "cmd") == 0 ? kAlreadyRun : kConflict;
}

// The code of Start, Stop and Finalize before Init: newer libraries do without.
int BeforeInit() {
#ifdef STANDIN_OLD
  return kNotRun;
#else
  return kOk;
#endif
}

bool IsNumberIn(const std::string& text, uint64_t low, uint64_t high) {
  if (text.empty() || text.size() > 10) return false;
  if (text.find_first_not_of("0123456789") != std::string::npos) return false;
  const uint64_t number = std::stoull(text);
  return number >= low && number <= high;
}

// Whether each item of a comma list is one of `known`.
bool IsListOf(const std::string& text, const std::set<std::string>& known) {
  size_t at = 0;
  while (true) {
    const size_t comma = text.find(',', at);
    if (!known.contains(text.substr(at, comma - at))) return false;
    if (comma == std::string::npos) return true;
    at = comma + 1;
  }
}

// "Custom:" and 1 to 10 numbers of events.
bool IsEvents(const std::string& text) {
  constexpr std::string_view kPrefix = "Custom:";
  if (!text.starts_with(kPrefix)) return false;
  int count = 0;
  for (size_t at = kPrefix.size();; ++count) {
    const size_t comma = text.find(',', at);
    if (!IsNumberIn(text.substr(at, comma - at), 0, 65535)) return false;
    if (comma == std::string::npos) break;
    at = comma + 1;
  }
  return count < 10;
}

// Whether a key of aclprofSetConfig takes a value. The old make has no such keys.
[[maybe_unused]] bool IsValue(int type, const std::string& value) {
  switch (type) {
    case 1:
      return value.ends_with("MB") &&
             IsNumberIn(value.substr(0, value.size() - 2), 200, 4294967295);
    case 3:
    case 5:
    case 7:
    case 11:
      return IsNumberIn(value, 1, 100);
    case 6:
    case 10:
    case 13:
      return IsNumberIn(value, 1, 50);
    case 4:
      return value == "read" || value == "write";
    case 8:
      return IsListOf(value, {"cpu", "mem", "disk", "network", "osrt"});
    case 9:
      return IsListOf(value, {"cpu", "mem"});
    case 15:
      return value == "PipeUtilization" || IsEvents(value);
    default:
      return true;
  }
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
  // Raw files recorded elsewhere take the place of the device's own.
  if (const char* replay = std::getenv("STANDIN_REPLAY")) {
    std::error_code ignored;
    std::filesystem::copy(replay, path, std::filesystem::copy_options::recursive, ignored);
  } else if (standin::Setting("STANDIN_PROF", 0) != 0) {
    writer = std::make_shared<standin::ProfWriter>(path);
  }
}

}  // namespace

STANDIN_API int aclprofInit(const char* path, size_t length) {
  STANDIN_CALL("aclprofInit", "aclprofInit %s %zu", path != nullptr ? path : "NULL", length);
  if (!IsText(path, length, 4096)) return kBadParameter;
  const char* mode = std::getenv("PROFILING_MODE");
  if (mode != nullptr && std::strcmp(mode, "dynamic") == 0) return kFeatureUnsupported;
  if (const int code = Conflict(); code != kOk) return code;
  const std::lock_guard lock(mutex);
  if (is_open) return kRepeatInitialise;
  is_open = true;
  folder = path;
  return kOk;
}

STANDIN_API int aclprofFinalize() {
  STANDIN_CALL("aclprofFinalize", "aclprofFinalize");
  if (const int code = Conflict(); code != kOk) return code;
  const std::lock_guard lock(mutex);
  if (!is_open) return BeforeInit();
  is_open = false;
  is_running = false;
  writer.reset();
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
  if (const int code = Conflict(); code != kOk) return code;
  const std::lock_guard lock(mutex);
  if (!is_open) {
    if (const int code = BeforeInit(); code != kOk) return code;
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
  if (config == nullptr || config->mask == 0) return kBadParameter;
  if (const int code = Conflict(); code != kOk) return code;
  usleep(static_cast<useconds_t>(standin::Setting("STANDIN_SLOW_STOP_MS", 0) * 1000));
  const std::lock_guard lock(mutex);
  if (!is_open) return BeforeInit();
  if (!is_running) return kOk;
  if (running_mask != config->mask) return kBadValue;
  is_running = false;
  writer.reset();
  return kOk;
}

// What a program tells of the device's work while the profiler runs; not the vendor's.
STANDIN_API void standin_kernel(const char* name, const char* type, uint16_t stream,
                                uint64_t ticks) {
  if (const auto to = Writer()) to->Kernel(name, type, stream, ticks);
}

STANDIN_API void standin_collective(const char* name, const char* group, uint16_t stream,
                                    uint64_t bytes, uint64_t ticks) {
  if (const auto to = Writer()) to->Collective(name, group, stream, bytes, ticks);
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
  return IsValue(type, value) ? kOk : kBadValue;
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
