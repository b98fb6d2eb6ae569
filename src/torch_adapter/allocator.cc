#include "torch_adapter/allocator.h"

#include <c10/core/Allocator.h>
#include <steplens/collect.h>

#include <atomic>

#include "torch_adapter/block_table.h"

namespace steplens::torch_adapter {
namespace {

constexpr uint8_t kPriority = 100;  // above the framework's own (0)
constexpr int8_t kDeviceType = 20;  // as an NPU's memory: the CPU is the device

// Never destroyed: tensors may be freed while the process ends.
BlockTable& Blocks() {
  static auto* const table = new BlockTable;
  return *table;
}
std::atomic<int64_t> total_bytes{0};
std::atomic<int8_t> device_index_of_events{0};
c10::Allocator* original = nullptr;
c10::DeleterFnPtr original_deleter = nullptr;

void Record(const void* block, int64_t size, int64_t total, uint8_t kind) {
  sl_memory event{};
  event.address = reinterpret_cast<int64_t>(block);
  event.size = size;
  event.total_allocated = total;
  event.total_reserved = total;
  event.total_active = total;
  event.device_type = kDeviceType;
  event.device_index = device_index_of_events.load(std::memory_order_relaxed);
  event.kind = kind;
  sl_record_memory(&event);
}

// What tensors allocated here are freed with, whenever that is. The event comes first: once the
// block is free another thread may be given it.
void Delete(void* block) {
  const int64_t size = Blocks().Remove(block);
  if (size >= 0) {
    const int64_t total = total_bytes.fetch_sub(size, std::memory_order_relaxed) - size;
    if (sl_recording()) Record(block, -size, total, SL_FREE);
  }
  original_deleter(block);
}

class RecordingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) const override {
    c10::DataPtr data = original->allocate(bytes);
    void* block = data.get();
    // The framework's allocator hands out blocks that are their own context; anything else is
    // passed through.
    if (!block || data.get_context() != block || !sl_recording()) return data;
    if (!data.compare_exchange_deleter(original_deleter, &Delete)) return data;
    const auto size = static_cast<int64_t>(bytes);
    Blocks().Insert(block, size);
    const int64_t total = total_bytes.fetch_add(size, std::memory_order_relaxed) + size;
    Record(block, size, total, SL_MALLOC);
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
