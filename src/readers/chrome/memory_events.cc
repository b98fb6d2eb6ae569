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

void Release(store::AllocationTable& blocks, uint32_t row, const TraceMemory& event) {
  blocks.release_ns.Set(row, event.ts_ns);
  const store::MaybeInt alloc_ns = blocks.alloc_ns[row];
  if (alloc_ns.is_known())
    blocks.dur_ns.Set(row, SubtractSaturating(event.ts_ns, alloc_ns.value()));
  blocks.release_total_allocated_bytes.Set(row, event.total_allocated);
  blocks.release_total_reserved_bytes.Set(row, event.total_reserved);
}

}  // namespace

void TraceMemories::Append(const EventBatch::Memory& event) {
  if (!device_known_ || event.device_type != device_type_ || event.device_id != device_id_) {
    device_ = strings_.Intern(DeviceText(event));
    device_type_ = event.device_type;
    device_id_ = event.device_id;
    device_known_ = true;
  }
  rows_.push_back({event.ts_ns, event.bytes, event.address, event.total_allocated,
                   event.total_reserved, device_});
}

void FillMemory(std::vector<TraceMemory> events, store::TraceStore& out) {
  const auto is_earlier = [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; };
  if (!std::is_sorted(events.begin(), events.end(), is_earlier)) {
    std::stable_sort(events.begin(), events.end(), is_earlier);
  }
  out.memory_samples.Reserve(out.memory_samples.size() + events.size());
  out.allocations.Reserve(out.allocations.size() + events.size() / 2);
  tsl::robin_map<uint64_t, uint32_t> open;  // address and device -> row of allocations
  // Older traces give no addresses: a release ends the last block of its size, so that totals are
  // right at any time, whichever block it was.
  std::map<std::pair<StringId, int64_t>, std::vector<uint32_t>> open_by_size;
  for (const TraceMemory& event : events) {
    store::MemorySampleTable::Row sample;
    sample.ts_ns = event.ts_ns;
    sample.allocated_bytes = event.total_allocated;
    sample.reserved_bytes = event.total_reserved;
    sample.device = event.device;
    out.memory_samples.Append(sample);

    const uint64_t key =
        static_cast<uint64_t>(event.address) * 31 + static_cast<uint64_t>(event.device);
    if (event.bytes > 0) {
      const auto number = static_cast<uint32_t>(out.allocations.size());
      if (event.address != kNone) {
        open[key] = number;
      } else {
        open_by_size[{event.device, event.bytes}].push_back(number);
      }
      store::AllocationTable::Row row;
      row.size_bytes = event.bytes;
      row.alloc_ns = event.ts_ns;
      row.alloc_total_allocated_bytes = event.total_allocated;
      row.alloc_total_reserved_bytes = event.total_reserved;
      row.device = event.device;
      row.address = event.address;
      out.allocations.Append(row);
      continue;
    }
    if (event.address == kNone) {
      auto& blocks = open_by_size[{event.device, SubtractSaturating(0, event.bytes)}];
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
