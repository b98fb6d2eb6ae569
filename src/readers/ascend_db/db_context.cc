#include "readers/ascend_db/db_context.h"

#include <fmt/format.h>

namespace steplens::readers {
namespace {

using store::IssueKind;
using store::kNone;

// Shapes, types and stacks are stored with ";\r\n" between their parts, as the text trace shows
// them; the store has ";".
std::string OnOneLine(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (const char c : text) {
    if ((c == '\r' || c == '\n') && !joined.empty() && joined.back() == ';') continue;
    joined += c;
  }
  return joined;
}

Status ReadStrings(DbContext& db) {
  db.not_available = db.Intern("N/A");
  const Status status = ReadTable(db, "STRING_IDS", {"id", "value"}, [&](Scan& row) {
    const int64_t id = row.Int(0);
    if (id == kNone) return false;
    const std::string_view text = row.Text(1);
    const bool has_lines = text.find(";\r\n") != text.npos || text.find(";\n") != text.npos;
    db.strings.Add(id, db.Intern(has_lines ? OnOneLine(text) : text));
    return true;
  });
  db.strings.Build();
  return status;
}

constexpr int64_t kCommunicationApi = 5500;

Status ReadEra(DbContext& db) {
  return ReadTable(db, "ENUM_API_TYPE", {"id", "name"}, [&](Scan& row) {
    if (row.Int(0) == kCommunicationApi) db.is_hccl_era = row.Text(1) == "hccl";
    return true;
  });
}

// The first value of a column that is a sensible id.
Result<int64_t> FirstId(DbContext& db, std::string_view table, std::string_view column) {
  if (!db.file.HasTable(table)) return kNone;
  auto scan = Scan::Open(db.file, table, {&column, 1});
  if (!scan.ok()) return kNone;  // the reader of the table reports its problems
  while (scan->Next()) {
    if (const int64_t id = scan->Int(0); id >= 0) return id;
  }
  if (const Status status = scan->status();
      !status.ok() && status.error().code == ErrorCode::kCancelled) {
    return status.error();
  }
  return kNone;
}

Status FindProcess(DbContext& db) {
  SL_ASSIGN_OR_RETURN(const int64_t task_pid, FirstId(db, "TASK", "globalPid"));
  if (task_pid != kNone && task_pid != kNoId32) {
    db.os_pid = task_pid;
    return {};
  }
  for (const char* table : {"CANN_API", "PYTORCH_API", "MSTX_EVENTS"}) {
    SL_ASSIGN_OR_RETURN(const int64_t global_tid, FirstId(db, table, "globalTid"));
    if (global_tid == kNone) continue;
    db.os_pid = global_tid >> 32;
    return {};
  }
  return {};
}

Status FindDevice(DbContext& db) {
  db.device = db.out.info.device;
  for (const char* table : {"TASK", "RANK_DEVICE_MAP"}) {
    if (db.device != kNone) return {};
    SL_ASSIGN_OR_RETURN(db.device, FirstId(db, table, "deviceId"));
  }
  return {};
}

}  // namespace

StringId DbContext::String(int64_t id) {
  if (id == kNone || id == kNoId32) return StringId::kEmpty;
  const StringId text = strings.Find(id);
  if (text != kNoString) return text;
  const bool is_first = out.issues.IsFirst(IssueKind::kDbRowInvalid);
  out.issues.Add(IssueKind::kDbRowInvalid,
                 is_first
                     ? fmt::format("{}: string id {} is not in STRING_IDS; the text is not known",
                                   file.name(), id)
                     : std::string());
  return StringId::kEmpty;
}

StringId DbContext::KnownString(int64_t id) {
  const StringId text = String(id);
  return text == not_available ? StringId::kEmpty : text;
}

Status PrepareContext(DbContext& db) {
  SL_RETURN_IF_ERROR(ReadStrings(db));
  SL_RETURN_IF_ERROR(ReadEra(db));
  SL_RETURN_IF_ERROR(FindProcess(db));
  SL_RETURN_IF_ERROR(FindDevice(db));
  db.tracks.SetProcess(db.os_pid, db.is_hccl_era);
  return {};
}

Result<EnumNames> EnumNames::Read(DbContext& db, std::string_view table) {
  EnumNames names;
  names.table_ = table;
  SL_RETURN_IF_ERROR(ReadTable(db, table, {"id", "name"}, [&](Scan& row) {
    const int64_t id = row.Int(0);
    if (id == kNone) return false;
    names.names_.Add(id, db.Intern(row.Text(1)));
    return true;
  }));
  names.names_.Build();
  return names;
}

StringId EnumNames::Find(DbContext& db, int64_t id) const {
  if (id == kNone) return StringId::kEmpty;
  const StringId name = names_.Find(id);
  if (name == db.not_available) return StringId::kEmpty;
  if (name != StringId::kEmpty) return name;
  const bool is_first = db.out.issues.IsFirst(IssueKind::kDbTableUnreadable);
  db.out.issues.Add(
      IssueKind::kDbTableUnreadable,
      is_first ? fmt::format("{}: table '{}' has no name for {}", db.file.name(), table_, id)
               : std::string());
  return db.Intern(fmt::to_string(id));
}

std::optional<TimeSpan> ReadTimeSpan(DbContext& db, Scan& scan, size_t begin_column,
                                     size_t end_column) {
  const int64_t begin_ns = scan.Int(begin_column);
  const int64_t end_ns = scan.Int(end_column);
  if (begin_ns < 0 || end_ns < 0) return std::nullopt;  // kNone is negative too
  if (end_ns >= begin_ns) return TimeSpan{begin_ns, end_ns - begin_ns};
  db.out.issues.Add(IssueKind::kNegativeDuration,
                    fmt::format("{}: row {}: starts at {} and ends at {}", db.file.name(),
                                scan.row_number(), begin_ns, end_ns));
  return TimeSpan{begin_ns, 0};
}

Status FinishTable(DbContext& db, std::string_view table, const Scan& scan, uint64_t rejected_rows,
                   uint64_t first_rejected_row) {
  const std::string where = fmt::format("{}: table '{}'", db.file.name(), table);
  for (std::string names : scan.missing_columns()) {
    if (const size_t bar = names.find('|'); bar != names.npos) names.replace(bar, 1, "' or '");
    db.out.issues.Add(IssueKind::kDbColumnMissing,
                      fmt::format("{} has no column '{}'", where, names));
  }
  if (scan.bad_cells() > 0) {
    db.out.issues.Add(IssueKind::kDbRowInvalid,
                      where + ": " + scan.first_bad_cell() + " is not a number", scan.bad_cells());
  }
  if (rejected_rows > 0) {
    db.out.issues.Add(
        IssueKind::kDbRowInvalid,
        fmt::format("{}: row {} lacks a time or an id, or names what is not in the db", where,
                    first_rejected_row),
        rejected_rows);
  }
  const Status status = scan.status();
  if (status.ok()) return {};
  if (status.error().code == ErrorCode::kCancelled) return status;
  db.out.issues.Add(IssueKind::kDbTableUnreadable,
                    fmt::format("{}: stopped after {} rows: {}", where, scan.row_number(),
                                status.error().message));
  return {};
}

void CountLostTable(DbContext& db, std::string_view table, std::string_view named_by,
                    uint64_t rows) {
  if (rows == 0) return;
  db.out.issues.Add(IssueKind::kDbTableUnreadable,
                    fmt::format("{}: table '{}' has no rows, and rows of {} name some: {}",
                                db.file.name(), table, named_by, rows));
}

Status SkipTable(DbContext& db, Error error) {
  if (error.code == ErrorCode::kCancelled) return error;
  const bool is_column = error.code == ErrorCode::kNotFound;
  db.out.issues.Add(is_column ? IssueKind::kDbColumnMissing : IssueKind::kDbTableUnreadable,
                    error.message);
  return {};
}

}  // namespace steplens::readers
