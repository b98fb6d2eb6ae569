#include "readers/framework/memory_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "readers/framework/allocation_names.h"

namespace steplens::readers {
namespace {

using store::kNone;
using store::TraceStore;

constexpr int8_t kNpu = 20;
constexpr uint8_t kMalloc = 0;
constexpr uint8_t kFree = 1;
constexpr uint8_t kBlockFree = 2;

// Brings the layouts of 2023 (75 bytes) and 2024 (76) into today's. False for other sizes.
//   common: 56 bytes of i64, device type, device index;  then
//   75: kind   76: kind, allocator   77: component, kind, allocator;  then thread, process: u64
bool DecodeAnyEra(format::Bytes value, format::MemoryUsage& event) {
  constexpr size_t kCommon = 58;
  constexpr size_t kIds = 16;
  constexpr size_t kToday = format::MemoryUsage::kFixedBytes;
  if (value.size() < kToday - 2 || value.size() > kToday) return false;
  const size_t small = value.size() - kCommon - kIds;  // 1, 2 or 3 bytes
  std::array<uint8_t, kToday> today{};
  std::memcpy(today.data(), value.data(), kCommon);
  std::memcpy(today.data() + kCommon + (small == 3 ? 0 : 1), value.data() + kCommon, small);
  std::memcpy(today.data() + kToday - kIds, value.data() + kCommon + small, kIds);
  return Decode(today, &event);
}

class DeviceNames {
 public:
  DeviceNames(TraceStore& out, std::optional<int64_t> only) : out_(out), only_(only) {}
  StringId operator()(int8_t device) {
    StringId& name = names_[static_cast<uint8_t>(device)];
    if (name == StringId::kEmpty) {
      name = out_.strings.Intern(fmt::format("NPU:{}", only_.value_or(device)));
    }
    return name;
  }

 private:
  TraceStore& out_;
  std::optional<int64_t> only_;
  std::array<StringId, 256> names_{};
};

void AppendSamples(const std::vector<MemoryEvent>& events, DeviceNames& device, TraceStore& out) {
  const StringId pta = out.strings.Intern("PTA");
  const StringId workspace = out.strings.Intern("WORKSPACE");
  out.memory_samples.Reserve(out.memory_samples.size() + events.size());
  for (const MemoryEvent& event : events) {
    out.memory_samples.Append({event.component == 1 ? workspace : pta, event.ts_ns,
                               event.allocated_bytes, event.reserved_bytes, event.active_bytes,
                               event.stream, device(event.device)});
  }
}

// The events of one block: a malloc, and what followed it.
struct Block {
  const MemoryEvent* malloc = nullptr;
  const MemoryEvent* free = nullptr;
  const MemoryEvent* block_free = nullptr;
};

// Cuts the events of each address into blocks: a malloc and the events after it while their kinds
// are new to the block. Events before a malloc are left out: the block is older than the capture.
std::vector<Block> CutBlocks(const std::vector<MemoryEvent>& events) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (events[i].is_inner && events[i].kind <= kBlockFree) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(events[a].address, a) < std::tuple(events[b].address, b);
  });
  std::vector<Block> blocks;
  Block* open = nullptr;
  int64_t address = 0;
  for (const uint32_t i : order) {
    const MemoryEvent& event = events[i];
    if (event.address != address) open = nullptr;
    address = event.address;
    if (event.kind == kMalloc) {
      open = &blocks.emplace_back(Block{&event});
      continue;
    }
    if (open == nullptr) continue;
    const MemoryEvent*& place = event.kind == kFree ? open->free : open->block_free;
    if (place == nullptr) {
      place = &event;
    } else {
      open = nullptr;  // the same kind again: of a block whose malloc is missing
    }
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.malloc < b.malloc; });
  return blocks;
}

store::AllocationTable::Row ToRow(const Block& block) {
  store::AllocationTable::Row row;
  const MemoryEvent& malloc = *block.malloc;
  row.size_bytes = malloc.size_bytes;
  row.alloc_ns = malloc.ts_ns;
  row.alloc_total_allocated_bytes = malloc.allocated_bytes;
  row.alloc_total_reserved_bytes = malloc.reserved_bytes;
  row.alloc_total_active_bytes = malloc.active_bytes;
  row.stream_ptr = malloc.stream;
  row.address = malloc.address;
  if (block.free != nullptr) {
    row.release_ns = block.free->ts_ns;
    row.dur_ns = SubtractSaturating(row.release_ns, row.alloc_ns);
    row.release_total_allocated_bytes = block.free->allocated_bytes;
    row.release_total_reserved_bytes = block.free->reserved_bytes;
    row.release_total_active_bytes = block.free->active_bytes;
  }
  if (block.block_free != nullptr) {
    row.active_release_ns = block.block_free->ts_ns;
    row.active_dur_ns = SubtractSaturating(row.active_release_ns, row.alloc_ns);
  }
  return row;
}

}  // namespace

Result<std::vector<MemoryEvent>> ReadMemoryEvents(RecordReader& reader, FrameworkContext& ctx) {
  std::vector<MemoryEvent> events;
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) return events;
    format::MemoryUsage raw;
    if (!DecodeAnyEra(reader.value(), raw)) {
      reader.Reject(fmt::format("a memory event of {} bytes; 75, 76 or 77 were expected",
                                reader.value().size()));
      continue;
    }
    if (raw.device_type != kNpu) continue;
    MemoryEvent event;
    event.ts_ns = ctx.Ns(raw.time);
    event.address = raw.address;
    event.size_bytes = raw.size;
    event.allocated_bytes = raw.total_allocated;
    event.reserved_bytes = raw.total_reserved;
    event.active_bytes = raw.total_active;
    event.stream = raw.stream;
    event.track = ctx.PythonThread(raw.process_id, raw.thread_id);
    event.device = raw.device_index;
    event.kind = raw.kind;
    event.component = raw.component;
    event.is_inner = raw.allocator == 0;
    events.push_back(event);
  }
}

void AppendMemory(std::vector<MemoryEvent> events, std::optional<int64_t> only_device,
                  TraceStore& out) {
  if (events.empty()) return;
  const auto earlier = [](const MemoryEvent& a, const MemoryEvent& b) { return a.ts_ns < b.ts_ns; };
  if (!std::is_sorted(events.begin(), events.end(), earlier)) {
    std::stable_sort(events.begin(), events.end(), earlier);
  }
  DeviceNames device(out, only_device);
  if (out.info.device == kNone) out.info.device = only_device.value_or(events.front().device);
  AppendSamples(events, device, out);
  const std::vector<Block> blocks = CutBlocks(events);
  const AllocationNames names(out);
  out.allocations.Reserve(out.allocations.size() + blocks.size());
  for (const Block& block : blocks) {
    store::AllocationTable::Row row = ToRow(block);
    row.device = device(block.malloc->device);
    row.name = names.Find(block.malloc->track, row.alloc_ns);
    out.allocations.Append(row);
  }
}

}  // namespace steplens::readers
