#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collect/device/switches.h"

namespace steplens::collect {

// 0 and nothing, or a code and what it was about.
struct DeviceResult {
  int code = 0;
  std::string text;
  bool ok() const { return code == 0; }
};

// The vendor's system profiler. Each call maps to one of its functions; a function that is not
// there gives SL_DEVICE_UNSUPPORTED. Used by one thread.
class AclProfiling {
 public:
  // Looks the functions up.
  AclProfiling();

  // sl_device_capability bits, without SL_DEVICE_MSPTI.
  uint32_t capabilities() const;

  DeviceResult Init(const std::string& folder);
  DeviceResult Configure(const sl_device_config& config, const std::vector<uint32_t>& device_ids);
  DeviceResult Warmup();
  DeviceResult Start();
  DeviceResult StepMark(bool is_end, void* stream);
  DeviceResult Mark(const char* message, void* stream);
  // The device first ends what it was given to do, on the thread that is stopped.
  void Synchronize();
  DeviceResult Stop();
  DeviceResult Finalize();

  const DeviceSwitches& switches() const { return switches_; }

 private:
  struct Functions {
    int (*init)(const char*, size_t) = nullptr;
    int (*finalize)() = nullptr;
    void* (*create_config)(uint32_t*, uint32_t, int, const void*, uint64_t) = nullptr;
    int (*destroy_config)(void*) = nullptr;
    int (*warmup)(void*) = nullptr;
    int (*start)(void*) = nullptr;
    int (*stop)(void*) = nullptr;
    int (*synchronize)() = nullptr;
    int (*set_config)(int, const char*, size_t) = nullptr;
    int (*register_device_callback)() = nullptr;
    int (*features)(size_t*, void**) = nullptr;
    void* (*create_step)() = nullptr;
    int (*step_timestamp)(void*, int, void*) = nullptr;
    void (*destroy_step)(void*) = nullptr;
    int (*mark_ex)(const char*, size_t, void*) = nullptr;
  };

  DeviceFeatures AskFeatures() const;

  Functions vendor_;
  DeviceSwitches switches_;
  void* config_ = nullptr;
  void* step_ = nullptr;
};

}  // namespace steplens::collect
