#include "readers/ascend_db/memory.h"

#include <fmt/format.h>

#include <unordered_map>

namespace steplens::readers {
namespace {

using store::kNone;

// "NPU:0"; each made once.
class DeviceTexts {
 public:
  explicit DeviceTexts(DbContext& db) : db_(db) {}
  StringId operator()(int64_t device) {
    if (device == kNone) device = db_.device;
    if (device == kNone) return StringId::kEmpty;
    if (text_ == StringId::kEmpty || device != device_) {
      device_ = device;
      text_ = db_.Intern(fmt::format("NPU:{}", device));
    }
    return text_;
  }

 private:
  DbContext& db_;
  int64_t device_ = kNone;
  StringId text_{};
};

// What the process holds on the device; memory_record.csv begins with these rows.
Status ReadAppMemory(DbContext& db) {
  DeviceTexts device(db);
  const StringId app = db.Intern("APP");
  return ReadTable(db, "NPU_MEM", {"type", "!ddr", "!hbm", "timestampNs", "!deviceId"},
                   [&](Scan& row) {
                     if (db.out.Text(db.String(row.Int(0))) != "app") return true;
                     store::MemorySampleTable::Row sample;
                     sample.component = app;
                     sample.ts_ns = row.Int(3);
                     const int64_t ddr_bytes = row.Int(1);
                     const int64_t hbm_bytes = row.Int(2);
                     if (sample.ts_ns < 0 || ddr_bytes < 0 || hbm_bytes < 0) return false;
                     if (__builtin_add_overflow(ddr_bytes, hbm_bytes, &sample.reserved_bytes))
                       return false;
                     sample.device = device(row.Int(4));
                     db.out.memory_samples.Append(sample);
                     return true;
                   });
}

Status ReadMemoryRecords(DbContext& db) {
  DeviceTexts device(db);
  const StringId ge = db.Intern("GE");
  db.out.memory_samples.Reserve(db.out.memory_samples.size() +
                                db.file.EstimateRows("MEMORY_RECORD"));
  return ReadTable(db, "MEMORY_RECORD",
                   {"component", "timestamp", "totalAllocated", "totalReserved", "!totalActive",
                    "!streamPtr", "!deviceId"},
                   [&](Scan& row) {
                     store::MemorySampleTable::Row sample;
                     sample.component = db.String(row.Int(0));
                     sample.ts_ns = row.Int(1);
                     sample.allocated_bytes = row.Int(2);
                     sample.reserved_bytes = row.Int(3);
                     // GE does not count active memory: an empty cell in the csv, 0 here.
                     sample.active_bytes = sample.component == ge ? store::kNone : row.Int(4);
                     sample.stream_ptr = row.Int(5);
                     sample.device = device(row.Int(6));
                     if (sample.ts_ns < 0) return false;
                     db.out.memory_samples.Append(sample);
                     return true;
                   });
}

// Names of operators that allocate. Those of CANN have ids of the exporter's range and lack the
// prefix that operator_memory.csv gives them.
class AllocatorNames {
 public:
  explicit AllocatorNames(DbContext& db) : db_(db) {}
  StringId operator()(int64_t id) {
    const StringId name = db_.String(id);
    if (id >= kFrameworkStrings || name == StringId::kEmpty) return name;
    const auto [place, is_new] =
        cann_names_.try_emplace(static_cast<uint32_t>(name), StringId::kEmpty);
    if (is_new) place->second = db_.Intern(fmt::format("cann::{}", db_.out.Text(name)));
    return place->second;
  }

 private:
  static constexpr int64_t kFrameworkStrings = int64_t{1} << 28;
  DbContext& db_;
  std::unordered_map<uint32_t, StringId> cann_names_;
};

Status ReadAllocations(DbContext& db) {
  AllocatorNames name(db);
  DeviceTexts device(db);
  return ReadTable(db, "OP_MEMORY",
                   {"name", "size", "allocationTime", "!releaseTime", "!activeReleaseTime",
                    "!duration", "!activeDuration", "!allocationTotalAllocated",
                    "!allocationTotalReserved", "!allocationTotalActive", "!releaseTotalAllocated",
                    "!releaseTotalReserved", "!releaseTotalActive", "!streamPtr", "!deviceId"},
                   [&](Scan& row) {
                     store::AllocationTable::Row block;
                     block.name = name(row.Int(0));
                     block.size_bytes = row.Int(1);
                     block.alloc_ns = row.Int(2);
                     block.release_ns = row.Int(3);
                     block.active_release_ns = row.Int(4);
                     block.dur_ns = row.Int(5);
                     block.active_dur_ns = row.Int(6);
                     block.alloc_total_allocated_bytes = row.Int(7);
                     block.alloc_total_reserved_bytes = row.Int(8);
                     block.alloc_total_active_bytes = row.Int(9);
                     block.release_total_allocated_bytes = row.Int(10);
                     block.release_total_reserved_bytes = row.Int(11);
                     block.release_total_active_bytes = row.Int(12);
                     block.stream_ptr = row.Int(13);
                     block.device = device(row.Int(14));
                     if (block.alloc_ns < 0) return false;
                     db.out.allocations.Append(block);
                     return true;
                   });
}

Status ReadModuleMemory(DbContext& db) {
  SL_ASSIGN_OR_RETURN(const EnumNames modules, EnumNames::Read(db, "ENUM_MODULE"));
  DeviceTexts device(db);
  db.out.module_memory.Reserve(db.out.module_memory.size() +
                               db.file.EstimateRows("NPU_MODULE_MEM"));
  return ReadTable(db, "NPU_MODULE_MEM", {"moduleId", "timestampNs", "totalReserved", "!deviceId"},
                   [&](Scan& row) {
                     store::ModuleMemoryTable::Row sample;
                     sample.component = modules.Find(db, row.Int(0));
                     sample.ts_ns = row.Int(1);
                     sample.reserved_bytes = row.Int(2);
                     sample.device = device(row.Int(3));
                     if (sample.ts_ns < 0) return false;
                     db.out.module_memory.Append(sample);
                     return true;
                   });
}

}  // namespace

Status ReadMemory(DbContext& db) {
  SL_RETURN_IF_ERROR(ReadAppMemory(db));
  SL_RETURN_IF_ERROR(ReadMemoryRecords(db));
  SL_RETURN_IF_ERROR(ReadAllocations(db));
  return ReadModuleMemory(db);
}

}  // namespace steplens::readers
