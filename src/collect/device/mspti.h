#pragma once

#include <cstdint>
#include <vector>

#include "collect/device/acl_profiling.h"

namespace steplens::collect {

// The vendor's activity interface: its records become those of FRAMEWORK/steplens.device.
// Deliveries come on threads of the vendor's library. One a process, because the vendor allows one
// subscriber.
class Mspti {
 public:
  // Looks the functions up.
  Mspti();

  bool is_available() const;

  // Subscribes and enables the kinds a configuration asks for. A kind that is refused is left out,
  // and named in the text; the code is 0 as long as one is enabled.
  DeviceResult Start(const sl_device_config& config);
  // Has everything delivered and ends the subscription.
  DeviceResult Stop();

 private:
  struct Functions {
    int (*subscribe)(void**, void*, void*) = nullptr;
    int (*unsubscribe)(void*) = nullptr;
    int (*register_callbacks)(void (*)(uint8_t**, size_t*, size_t*),
                              void (*)(uint8_t*, size_t, size_t)) = nullptr;
    int (*enable)(int) = nullptr;
    int (*disable)(int) = nullptr;
    int (*next_record)(uint8_t*, size_t, void**) = nullptr;
    int (*flush_all)(uint32_t) = nullptr;
    int (*flush_period)(uint32_t) = nullptr;
  };

  static void Request(uint8_t** buffer, size_t* size, size_t* max_records);
  static void Complete(uint8_t* buffer, size_t size, size_t valid);

  Functions vendor_;
  void* subscriber_ = nullptr;
  std::vector<int> enabled_;
};

// Appends one activity of the vendor as a record of steplens.device. False for kinds that are not
// known.
bool AppendActivity(const void* record, std::vector<uint8_t>* out);

}  // namespace steplens::collect
