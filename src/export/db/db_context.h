#pragma once

#include <unordered_map>
#include <vector>

#include "export/db/counter_sources.h"
#include "export/db/db_strings.h"
#include "export/db/sqlite_writer.h"
#include "export/export.h"
#include "export/timeline.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// The enums that tables refer to by id; written last, when the store's own names are in them.
struct DbEnums {
  explicit DbEnums(bool is_hccl_era);
  void Write(SqliteWriter& db, bool is_hccl_era) const;

  DbEnum data_type;
  DbEnum link_type;
  DbEnum transport_type;
  DbEnum rdma_type;
  DbEnum module;
};
inline constexpr int64_t kEnumNotAvailable = 65534;

// What the writers of one database share.
struct DbContext {
  DbContext(const store::TraceStore& of_store, const Timeline& of_timeline,
            const ExportOptions& with, SqliteWriter& into)
      : store(of_store),
        timeline(of_timeline),
        options(with),
        db(into),
        strings(of_store),
        enums(of_timeline.is_hccl_era),
        global_tids(GlobalTids(of_store, of_timeline)) {}

  const store::TraceStore& store;
  const Timeline& timeline;
  const ExportOptions& options;
  SqliteWriter& db;
  DbStrings strings;
  DbEnums enums;
  std::vector<int64_t> global_tids;  // of each track
  // Connections of slices the store has none for, though an arrow leads to them: slice -> id.
  std::unordered_map<uint32_t, int64_t> made_connections;

  int64_t ConnectionOf(uint32_t slice) const {
    if (const int64_t known = store.slices.correlation[slice]; known != store::kNone) return known;
    const auto made = made_connections.find(slice);
    return made == made_connections.end() ? kNoId32 : made->second;
  }
  // pid << 32 | tid of a thread.
  int64_t GlobalTid(store::TrackId track) const;
  static std::vector<int64_t> GlobalTids(const store::TraceStore& store, const Timeline& timeline);
  // 0 of "NPU:0"; -1 for the host and what is not known. Neighbouring rows mostly share it.
  int64_t DeviceNumber(StringId device);

 private:
  StringId last_device_ = StringId::kEmpty;
  int64_t last_device_number_ = -1;
};

// The parts of the profiler database, in the order they must be written.
void WriteHostTables(DbContext& ctx);
void WriteDeviceTables(DbContext& ctx);
void WriteMemoryTables(DbContext& ctx);
void WriteCounterTables(DbContext& ctx);
// Those of some sources only.
void WriteCounterTables(DbContext& ctx, const std::vector<CounterSource>& sources);
void WriteMetaTables(DbContext& ctx);

}  // namespace steplens::exporting
