#include "readers/ascend_db/meta.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "base/json.h"

namespace steplens::readers {
namespace {

using store::kNone;

// Structured values without the blanks between their parts, as the json files' values are kept.
std::string Compact(std::string_view value) {
  if (value.starts_with('{') || value.starts_with('[')) {
    const Result<JsonDocument> document = JsonDocument::Parse(value, "META_DATA");
    if (document.ok()) return document->root().ToText();
  }
  return std::string(value);
}

// Appends rows of meta; a fact that is stored twice (ENV_VARIABLES is) comes once.
class MetaWriter {
 public:
  explicit MetaWriter(DbContext& db) : db_(db) {}
  void Add(std::string_view name, std::string_view value) {
    const std::pair fact(db_.Intern(name), db_.Intern(Compact(value)));
    if (seen_.insert(fact).second) db_.out.meta.Append({fact.first, fact.second});
  }

 private:
  DbContext& db_;
  std::set<std::pair<StringId, StringId>> seen_;
};

Status ReadFacts(DbContext& db) {
  MetaWriter meta(db);
  SL_RETURN_IF_ERROR(ReadTable(db, "META_DATA", {"name", "value"}, [&](Scan& row) {
    const std::string name(row.Text(0));
    meta.Add(name, row.Text(1));
    return true;
  }));
  SL_RETURN_IF_ERROR(ReadTable(db, "HOST_INFO", {"hostUid", "hostName"}, [&](Scan& row) {
    meta.Add("hostUid", row.Text(0));
    meta.Add("hostName", row.Text(1));
    return true;
  }));
  SL_RETURN_IF_ERROR(ReadTable(db, "NPU_INFO", {"name"}, [&](Scan& row) {
    meta.Add("npuName", row.Text(0));
    return true;
  }));
  return ReadTable(db, "SESSION_TIME_INFO", {"startTimeNs", "endTimeNs"}, [&](Scan& row) {
    meta.Add("startTimeNs", row.Text(0));
    meta.Add("endTimeNs", row.Text(1));
    return true;
  });
}

Status ReadSteps(DbContext& db) {
  return ReadTable(db, "STEP_TIME", {"id", "startNs", "endNs"}, [&](Scan& row) {
    const auto span = ReadTimeSpan(db, row, 1, 2);
    if (!span) return false;
    db.out.steps.Append({row.Int(0), span->begin_ns, span->begin_ns + span->dur_ns});
    return true;
  });
}

}  // namespace

Status ReadRankAndDevice(DbContext& db) {
  std::set<int64_t> ranks;
  std::set<int64_t> devices;
  SL_RETURN_IF_ERROR(ReadTable(db, "RANK_DEVICE_MAP", {"rankId", "deviceId"}, [&](Scan& row) {
    if (const int64_t rank = row.Int(0); rank >= 0) ranks.insert(rank);  // -1: not known
    if (const int64_t device = row.Int(1); device >= 0) devices.insert(device);
    return true;
  }));
  store::RankInfo& info = db.out.info;
  if (info.rank == kNone && ranks.size() == 1) info.rank = *ranks.begin();
  if (ranks.size() == 1) {
    db.out.meta.Append(
        {db.Intern("RANK_DEVICE_MAP.rankId"), db.Intern(std::to_string(*ranks.begin()))});
  }
  if (info.device == kNone && devices.size() == 1) info.device = *devices.begin();
  return {};
}

Status ReadMeta(DbContext& db) {
  SL_RETURN_IF_ERROR(ReadFacts(db));
  SL_RETURN_IF_ERROR(ReadRankAndDevice(db));
  return ReadSteps(db);
}

}  // namespace steplens::readers
