#include "torch_adapter/allocator.h"

#include <c10/core/Allocator.h>
#include <steplens/collect.h>

#include <atomic>

namespace steplens::torch_adapter {
namespace {

constexpr uint8_t kPriority = 100;  // above the framework's own (0)
constexpr int8_t kDeviceType = 20;  // as an NPU's memory: the CPU is the device

std::atomic<int8_t> device_index_of_events{0};
c10::Allocator* original = nullptr;
c10::DeleterFnPtr original_deleter = nullptr;

// `size` 0: the block is freed.
void Record(const void* block, size_t size) {
  sl_record_block(reinterpret_cast<int64_t>(block), static_cast<int64_t>(size), kDeviceType,
                  device_index_of_events.load(std::memory_order_relaxed));
}

// What tensors allocated here are freed with, whenever that is. The event comes first: once the
// block is free another thread may be given it.
void Delete(void* block) {
  if (sl_recording()) Record(block, 0);
  original_deleter(block);
}

class RecordingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) const override {
    c10::DataPtr data = original->allocate(bytes);
    void* block = data.get();
    // The framework's allocator hands out blocks that are their own context; anything else is
    // passed through.
    if (!block || bytes == 0 || data.get_context() != block || !sl_recording()) return data;
    if (data.compare_exchange_deleter(original_deleter, &Delete)) Record(block, bytes);
    return data;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Delete; }
};

RecordingAllocator* Recording() {
  static auto* const allocator = new RecordingAllocator;
  return allocator;
}

}  // namespace

void InstallAllocator(int device_index) {
  device_index_of_events = static_cast<int8_t>(device_index);
  c10::Allocator* current = c10::GetAllocator(c10::DeviceType::CPU);
  if (current == Recording()) return;
  original = current;
  original_deleter = current->raw_deleter();
  // Without a deleter of its own the allocator cannot be stood in for.
  if (original_deleter) c10::SetAllocator(c10::DeviceType::CPU, Recording(), kPriority);
}

void RemoveAllocator() {
  if (c10::GetAllocator(c10::DeviceType::CPU) == Recording()) {
    c10::SetAllocator(c10::DeviceType::CPU, original, kPriority);
  }
}

}  // namespace steplens::torch_adapter
