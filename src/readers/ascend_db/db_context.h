#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "readers/ascend_db/id_map.h"
#include "readers/ascend_db/sqlite_file.h"
#include "readers/ascend_db/tracks.h"
#include "store/trace_store.h"

namespace steplens::readers {

// "No id" of 32-bit fields: strings, connections, contexts, ranks, planes.
inline constexpr int64_t kNoId32 = 4294967295;
inline constexpr uint32_t kNoRow = store::kNoId;

// A connectionId of the db, kNone if it connects nothing.
inline int64_t KnownConnection(int64_t id) { return id < 0 || id == kNoId32 ? store::kNone : id; }

// Found for an id that is not in STRING_IDS; the empty text may well be there.
inline constexpr StringId kNoString{store::kNoId};

// What all parts of the profiler db reader share while one file is read.
struct DbContext {
  DbContext(SqliteFile& db_file, store::TraceStore& store)
      : file(db_file), out(store), tracks(store) {}

  SqliteFile& file;
  store::TraceStore& out;
  TrackBuilder tracks;
  IdMap<StringId> strings{kNoString};         // STRING_IDS
  StringId not_available = StringId::kEmpty;  // the text "N/A"
  int64_t os_pid = 0;                         // of the profiled process, 0 if nothing says it
  int64_t device = store::kNone;              // of rows without a device of their own
  bool is_hccl_era = false;  // up to CANN 8.0: "HCCL" where later files say "Communication"

  // The text of a STRING_IDS id. An id that is not there gives the empty text and an issue.
  StringId String(int64_t id);
  // The same, with "N/A" as not known.
  StringId KnownString(int64_t id);
  StringId Intern(std::string_view text) { return out.strings.Intern(text); }
};

// Fills the members of `db` that the other parts need: strings, era, pid and device.
Status PrepareContext(DbContext& db);

// The names of an ENUM_ table by id.
class EnumNames {
 public:
  static Result<EnumNames> Read(DbContext& db, std::string_view table);
  // An id without a name gives its number, and is counted; "N/A" and NULL give the empty text.
  StringId Find(DbContext& db, int64_t id) const;

 private:
  std::string table_;
  IdMap<StringId> names_{StringId::kEmpty};
};

// Start and duration of a row.
struct TimeSpan {
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
};
// From two columns of ns. Nothing if one is not a time; a negative duration is counted and becomes
// 0.
std::optional<TimeSpan> ReadTimeSpan(DbContext& db, Scan& scan, size_t begin_column,
                                     size_t end_column);

// Counts what a pass over a table left out.
Status FinishTable(DbContext& db, std::string_view table, const Scan& scan, uint64_t rejected_rows,
                   uint64_t first_rejected_row);
// Counts a table without rows that `rows` rows of another one name; 0 is none.
void CountLostTable(DbContext& db, std::string_view table, std::string_view named_by,
                    uint64_t rows);
// Counts a table that could not be opened; an error only when cancelled.
Status SkipTable(DbContext& db, Error error);

// Calls read_row(scan) -> bool for every row of the table; false means the row is unusable. An
// absent table is skipped in silence; a table that lacks a column or is damaged is counted, and
// what could be read is kept. An error only when cancelled. Columns are written as for Scan.
template <typename ReadRow>
Status ReadTable(DbContext& db, std::string_view table, std::span<const std::string_view> columns,
                 ReadRow&& read_row) {
  if (!db.file.HasTable(table)) return {};
  auto scan = Scan::Open(db.file, table, columns);
  if (!scan.ok()) return SkipTable(db, std::move(scan).error());
  uint64_t rejected_rows = 0;
  uint64_t first_rejected_row = 0;
  while (scan->Next()) {
    if (read_row(*scan)) continue;
    if (rejected_rows++ == 0) first_rejected_row = scan->row_number();
  }
  return FinishTable(db, table, *scan, rejected_rows, first_rejected_row);
}

template <typename ReadRow>
Status ReadTable(DbContext& db, std::string_view table,
                 std::initializer_list<std::string_view> columns, ReadRow&& read_row) {
  return ReadTable(db, table, std::span(columns.begin(), columns.size()),
                   std::forward<ReadRow>(read_row));
}

}  // namespace steplens::readers
