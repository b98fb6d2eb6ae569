#include "readers/chrome/memory_events.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/saturate.h"

namespace steplens::readers {
namespace {

using store::kNone;

// torch's DeviceType numbers: 0 is the host, 1 CUDA (ROCm too), 20 the private-use back end of
// NPUs.
std::string DeviceText(const EventBatch::Memory& event) {
  if (event.device_id < 0 || event.device_type == 0) return "CPU";
  return fmt::format("{}:{}", event.device_type == 20 ? "NPU" : "GPU", event.device_id);
}

// DeviceText as ids: the events of a trace name few devices.
class DeviceIds {
 public:
  explicit DeviceIds(StringPool& strings) : strings_(strings) {}
  StringId Of(const EventBatch::Memory& event) {
    if (!known_ || event.device_type != type_ || event.device_id != id_) {
      text_ = strings_.Intern(DeviceText(event));
      type_ = event.device_type;
      id_ = event.device_id;
      known_ = true;
    }
    return text_;
  }

 private:
  StringPool& strings_;
  bool known_ = false;
  int64_t type_ = 0;
  int64_t id_ = 0;
  StringId text_{};
};

void Release(store::AllocationTable& blocks, uint32_t row, const EventBatch::Memory& event) {
  blocks.release_ns.Set(row, event.ts_ns);
  blocks.dur_ns.Set(row, SubtractSaturating(event.ts_ns, blocks.alloc_ns[row]));
  blocks.release_total_allocated_bytes.Set(row, event.total_allocated);
  blocks.release_total_reserved_bytes.Set(row, event.total_reserved);
}

}  // namespace

void FillMemory(std::vector<EventBatch::Memory> events, store::TraceStore& out) {
  const auto is_earlier = [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; };
  if (!std::is_sorted(events.begin(), events.end(), is_earlier)) {
    std::stable_sort(events.begin(), events.end(), is_earlier);
  }
  out.memory_samples.Reserve(out.memory_samples.size() + events.size());
  out.allocations.Reserve(out.allocations.size() + events.size() / 2);
  DeviceIds devices(out.strings);
  tsl::robin_map<uint64_t, uint32_t> open;  // address and device -> row of allocations
  // Older traces give no addresses: a release ends the last block of its size, so that totals are
  // right at any time, whichever block it was.
  std::map<std::pair<StringId, int64_t>, std::vector<uint32_t>> open_by_size;
  for (const EventBatch::Memory& event : events) {
    const StringId device = devices.Of(event);
    store::MemorySampleTable::Row sample;
    sample.ts_ns = event.ts_ns;
    sample.allocated_bytes = event.total_allocated;
    sample.reserved_bytes = event.total_reserved;
    sample.device = device;
    out.memory_samples.Append(sample);

    const uint64_t key = static_cast<uint64_t>(event.address) * 31 + static_cast<uint64_t>(device);
    if (event.bytes > 0) {
      const auto number = static_cast<uint32_t>(out.allocations.size());
      if (event.address != kNone) {
        open[key] = number;
      } else {
        open_by_size[{device, event.bytes}].push_back(number);
      }
      store::AllocationTable::Row row;
      row.size_bytes = event.bytes;
      row.alloc_ns = event.ts_ns;
      row.alloc_total_allocated_bytes = event.total_allocated;
      row.alloc_total_reserved_bytes = event.total_reserved;
      row.device = device;
      row.address = event.address;
      out.allocations.Append(row);
      continue;
    }
    if (event.address == kNone) {
      auto& blocks = open_by_size[{device, SubtractSaturating(0, event.bytes)}];
      if (blocks.empty()) continue;
      Release(out.allocations, blocks.back(), event);
      blocks.pop_back();
      continue;
    }
    const auto found = open.find(key);
    if (found == open.end()) continue;
    if (out.allocations.size_bytes[found->second] == -event.bytes)
      Release(out.allocations, found->second, event);
    open.erase(key);
  }
}

}  // namespace steplens::readers
