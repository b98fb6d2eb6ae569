#include <algorithm>

#include "base/number.h"
#include "export/db/db_context.h"
#include "export/memory_rows.h"

namespace steplens::exporting {
namespace {

using store::kNone;
using store::TraceStore;

void WriteMemoryRecords(DbContext& ctx) {
  const TraceStore& store = ctx.store;
  TableWriter rows = ctx.db.Table(
      "MEMORY_RECORD",
      "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, "
      "totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER");
  ForEachMemoryRow(store, ctx.options, [&](const store::MemorySampleTable::Row& sample) {
    const std::string_view component = store.Text(sample.component);
    if (component == "APP") return;  // in NPU_MEM
    // GE counts no active memory: nothing in the csv, 0 here.
    const bool is_ge = component == "GE" && sample.active_bytes == kNone;
    rows.Int(ctx.strings.memory(sample.component)).Int(sample.ts_ns);
    rows.Int(sample.allocated_bytes).Int(sample.reserved_bytes);
    rows.Int(is_ge ? 0 : sample.active_bytes).Int(sample.stream_ptr);
    rows.Int(ctx.DeviceNumber(sample.device)).EndRow();
  });
}

// Names of CANN's own operators are the exporter's, without the prefix of the csv.
int64_t AllocatorName(DbContext& ctx, StringId name) {
  constexpr std::string_view kCann = "cann::";
  const std::string_view text = ctx.store.Text(name);
  if (text.starts_with(kCann)) return ctx.strings.exporter(text.substr(kCann.size()));
  return ctx.strings.memory(name);
}

void WriteAllocations(DbContext& ctx) {
  const store::AllocationTable& blocks = ctx.store.allocations;
  TableWriter rows =
      ctx.db.Table("OP_MEMORY",
                   "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, "
                   "activeReleaseTime INTEGER, duration INTEGER, activeDuration INTEGER, "
                   "allocationTotalAllocated INTEGER, allocationTotalReserved INTEGER, "
                   "allocationTotalActive INTEGER, releaseTotalAllocated INTEGER, "
                   "releaseTotalReserved INTEGER, releaseTotalActive INTEGER, streamPtr INTEGER, "
                   "deviceId INTEGER");
  for (size_t i = 0; i < blocks.size(); ++i) {
    rows.Int(AllocatorName(ctx, blocks.name[i]));
    for (const auto* column :
         {&blocks.size_bytes, &blocks.alloc_ns, &blocks.release_ns, &blocks.active_release_ns,
          &blocks.dur_ns, &blocks.active_dur_ns, &blocks.alloc_total_allocated_bytes,
          &blocks.alloc_total_reserved_bytes, &blocks.alloc_total_active_bytes,
          &blocks.release_total_allocated_bytes, &blocks.release_total_reserved_bytes,
          &blocks.release_total_active_bytes, &blocks.stream_ptr})
      rows.Int((*column)[i]);
    rows.Int(ctx.DeviceNumber(blocks.device[i])).EndRow();
  }
}

void WriteModuleMemory(DbContext& ctx) {
  const store::ModuleMemoryTable& modules = ctx.store.module_memory;
  TableWriter rows = ctx.db.Table("NPU_MODULE_MEM",
                                  "moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC, "
                                  "deviceId INTEGER");
  for (size_t i = 0; i < modules.size(); ++i) {
    rows.Int(ctx.enums.module(ctx.store.Text(modules.component[i]), kNone)).Int(modules.ts_ns[i]);
    rows.Int(modules.reserved_bytes[i]);
    rows.Int(ctx.DeviceNumber(modules.device[i])).EndRow();
  }
}

}  // namespace

int64_t DbContext::DeviceNumber(StringId device) {
  if (device != last_device_) {
    last_device_ = device;
    const std::string_view text = store.Text(device);
    const size_t colon = text.find(':');
    last_device_number_ = colon == text.npos ? -1 : ParseInt64(text.substr(colon + 1)).value_or(-1);
  }
  return last_device_number_;
}

void WriteMemoryTables(DbContext& ctx) {
  WriteMemoryRecords(ctx);
  WriteAllocations(ctx);
  WriteModuleMemory(ctx);
}

}  // namespace steplens::exporting
