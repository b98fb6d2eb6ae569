// The calls of device.h: their order, and who serves them.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>

#include "collect/capture.h"
#include "collect/device/acl_profiling.h"
#include "collect/device/device_marks.h"
#include "collect/device/mspti.h"
#include "collect/device/vendor_library.h"
#include "steplens/device.h"

namespace steplens::collect {
namespace {

enum class State { kOff, kReady, kConfigured, kWarm, kRunning, kStopped };

// The back end of the process. Never destroyed: the vendor's threads may still deliver at exit.
struct Backend {
  std::mutex mutex;  // guards what follows
  AclProfiling acl;
  Mspti mspti;
  State state = State::kOff;
  std::string directory;
  sl_device_config config = {};
  bool acl_is_open = false;  // aclprofInit was called and has to be undone
};

Backend& TheBackend() {
  static Backend* const backend = new Backend;
  return *backend;
}

DeviceResult OutOfOrder(const char* call) {
  return {SL_DEVICE_NOT_READY, std::string(call) + " was called out of order"};
}

DeviceResult Init(Backend& backend, const char* directory) {
  if (directory == nullptr || directory[0] == '\0') {
    return {SL_DEVICE_BAD_ARGUMENT, "no folder was given"};
  }
  if (backend.state != State::kOff) return OutOfOrder("sl_device_init");
  if (backend.acl.capabilities() == 0 && !backend.mspti.is_available()) {
    return {SL_DEVICE_UNSUPPORTED,
            "there are no profiling libraries of the vendor on this machine"};
  }
  backend.directory = directory;
  backend.state = State::kReady;
  return {};
}

DeviceResult Configure(Backend& backend, const sl_device_config* given) {
  if (given == nullptr) return {SL_DEVICE_BAD_ARGUMENT, "no configuration was given"};
  if (backend.state != State::kReady) return OutOfOrder("sl_device_configure");
  sl_device_config config = {};
  std::memcpy(&config, given, std::min(given->struct_size, sizeof(config)));
  backend.config = config;
  if (config.use_mspti == 0) {
    DeviceResult opened = backend.acl.Init(backend.directory);
    if (!opened.ok()) return opened;
    backend.acl_is_open = true;
    std::vector<uint32_t> ids = {0};
    if (config.device_ids != nullptr) {
      ids.assign(config.device_ids, config.device_ids + config.device_count);
    }
    DeviceResult result = backend.acl.Configure(config, ids);
    if (result.ok()) backend.state = State::kConfigured;
    return result;
  }
  backend.config.device_ids = nullptr;  // the caller's memory
  backend.config.host_sys = nullptr;
  if (!backend.mspti.is_available()) {
    return {SL_DEVICE_UNSUPPORTED, "libmspti.so is not on this machine"};
  }
  backend.state = State::kConfigured;
  return {};
}

DeviceResult Warmup(Backend& backend) {
  if (backend.state != State::kConfigured) return OutOfOrder("sl_device_warmup");
  if (backend.config.use_mspti != 0) return {SL_DEVICE_UNSUPPORTED, "MSPTI has no warm-up"};
  DeviceResult result = backend.acl.Warmup();
  if (result.ok()) backend.state = State::kWarm;
  return result;
}

DeviceResult Start(Backend& backend) {
  if (backend.state != State::kConfigured && backend.state != State::kWarm) {
    return OutOfOrder("sl_device_start");
  }
  DeviceResult result =
      backend.config.use_mspti != 0 ? backend.mspti.Start(backend.config) : backend.acl.Start();
  if (!result.ok()) return result;
  backend.state = State::kRunning;
  SetStreamMarks(backend.config.use_mspti == 0 && backend.config.mstx != 0);
  return result;
}

DeviceResult StepMark(Backend& backend, bool is_end, void* stream) {
  if (backend.state != State::kRunning) return OutOfOrder("sl_device_step_mark");
  if (backend.config.use_mspti != 0) return {};
  return backend.acl.StepMark(is_end, stream);
}

DeviceResult Mark(Backend& backend, const char* message, void* stream) {
  if (message == nullptr) return {SL_DEVICE_BAD_ARGUMENT, "a mark without a text"};
  if (backend.state != State::kRunning) return OutOfOrder("sl_device_mark");
  if (backend.config.use_mspti != 0) return {SL_DEVICE_UNSUPPORTED, "MSPTI makes marks itself"};
  return backend.acl.Mark(message, stream);
}

DeviceResult Stop(Backend& backend) {
  if (backend.state != State::kRunning) return OutOfOrder("sl_device_stop");
  SetStreamMarks(false);
  backend.state = State::kStopped;
  backend.acl.Synchronize();
  return backend.config.use_mspti != 0 ? backend.mspti.Stop() : backend.acl.Stop();
}

// From any state: closes everything that was opened.
DeviceResult Finalize(Backend& backend) {
  if (backend.state == State::kOff) return OutOfOrder("sl_device_finalize");
  if (backend.state == State::kRunning) Stop(backend);
  backend.state = State::kOff;
  if (!backend.acl_is_open) return {};
  backend.acl_is_open = false;
  return backend.acl.Finalize();
}

// Under the lock, without exceptions; the text of the result goes to sl_last_error.
template <typename Call>
int Guarded(Call call) {
  try {
    Backend& backend = TheBackend();
    const std::lock_guard lock(backend.mutex);
    const DeviceResult result = call(backend);
    SetError("%s", result.text.c_str());
    return result.code;
  } catch (const std::bad_alloc&) {
    SetError("out of memory");
    return SL_DEVICE_UNSUPPORTED;
  }
}

}  // namespace
}  // namespace steplens::collect

using namespace steplens::collect;

extern "C" {

uint32_t sl_device_capabilities(void) {
  uint32_t bits = 0;
  Guarded([&](Backend& backend) {
    bits = backend.acl.capabilities() |
           (backend.mspti.is_available() ? uint32_t{SL_DEVICE_MSPTI} : 0u);
    return DeviceResult();
  });
  return bits;
}

int sl_device_init(const char* directory) {
  return Guarded([&](Backend& backend) { return Init(backend, directory); });
}

int sl_device_configure(const sl_device_config* config) {
  return Guarded([&](Backend& backend) { return Configure(backend, config); });
}

int sl_device_warmup(void) { return Guarded(Warmup); }
int sl_device_start(void) { return Guarded(Start); }

int sl_device_step_mark(int is_end, void* stream) {
  return Guarded([&](Backend& backend) { return StepMark(backend, is_end != 0, stream); });
}

int sl_device_mark(const char* message, void* stream) {
  return Guarded([&](Backend& backend) { return Mark(backend, message, stream); });
}

int sl_device_stop(void) { return Guarded(Stop); }
int sl_device_finalize(void) { return Guarded(Finalize); }

uint64_t sl_device_mask(void) {
  uint64_t mask = 0;
  Guarded([&](Backend& backend) {
    mask = backend.acl.switches().mask;
    return DeviceResult();
  });
  return mask;
}

void* sl_device_function(const char* name) {
  if (name == nullptr) return nullptr;
  return FindVendorSymbol(name, VendorLibrary::kMspti, VendorLibrary::kMsProfiler);
}

int sl_device_metrics(void) {
  int metrics = 0;
  Guarded([&](Backend& backend) {
    metrics = backend.acl.switches().metrics;
    return DeviceResult();
  });
  return metrics;
}

}  // extern "C"
