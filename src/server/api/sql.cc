#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "server/api/cells.h"
#include "server/api/handlers.h"
#include "server/run_sql.h"
#include "store/schema_doc.h"

namespace steplens::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxSlicesToPrepare = 500'000;
size_t SliceCount(const store::Job& job) {
  size_t count = 0;
  for (const store::TraceStore& rank : job.ranks) count += rank.slices.size();
  return count;
}

std::string_view KindOf(const query::SqlTable& table) {
  if (table.compute) return "analysis";
  for (const store::TableDoc& doc : store::DescribeTables()) {
    if (doc.name == table.name) return "store";
  }
  return "sheet";
}

// The rows of the request's query, one more than wanted if there are more; or the answer to a query
// that cannot be run.
struct Ran {
  std::optional<table::Table> table;
  Response problem;
};

Result<Ran> RunQuery(const Ask& ask, int64_t limit) {
  SL_ASSIGN_OR_RETURN(const std::string text, ask.params.Text("query"));
  SL_ASSIGN_OR_RETURN(const int64_t timeout_ms, ask.params.IntIn("timeout_ms", 10'000, 1, 600'000));
  SL_ASSIGN_OR_RETURN(const store::Job* job, NeedJob(ask));
  SL_ASSIGN_OR_RETURN(auto answer, RunSql(*ask.open.cache, *job,
                                          {text, std::chrono::milliseconds(timeout_ms),
                                           static_cast<size_t>(limit) + 1}));
  auto& [table, timed_out] = answer;
  if (table.ok()) return Ran{*std::move(table), {}};
  if (timed_out) {
    return Ran{
        std::nullopt,
        ErrorResponse(408, "timeout", fmt::format("the query was stopped after {} ms", timeout_ms),
                      "raise the time limit, or aggregate less")};
  }
  // An error in the query is the client's.
  if (table.error().code == ErrorCode::kNotFound)
    return Ran{std::nullopt, ErrorResponse(400, "bad_request", table.error().message)};
  return table.error();
}

void WriteQueryLane(JsonWriter& json, const Ask& ask, const Lane& lane) {
  json.BeginObject().Key("track").Int(lane.id).Key("parent").Int(lane.parent);
  json.Key("name").String(lane.name).Key("path").String(lane.path);
  json.Key("rank").Int(ask.view.RankOf(lane).rank);
  json.Key("rows").Int(static_cast<int64_t>(lane.rows.rows()));
  json.Key("n").Int(static_cast<int64_t>(lane.count)).Key("flags").Int(lane.flags).EndObject();
}

}  // namespace

Result<Response> PostSql(const Ask& ask) {
  const Clock::time_point started = Clock::now();
  SL_ASSIGN_OR_RETURN(const int64_t limit, ask.params.IntIn("limit", 1000, 1, 1'000'000));
  SL_ASSIGN_OR_RETURN(const Ran ran, RunQuery(ask, limit));
  if (!ran.table) return ran.problem;
  JsonWriter json;
  json.BeginObject();
  WriteTable(json, *ran.table, static_cast<size_t>(limit));
  json.Key("truncated").Bool(ran.table->rows() > static_cast<size_t>(limit));
  const auto passed = Clock::now() - started;
  json.Key("elapsed_us")
      .Int(std::chrono::duration_cast<std::chrono::microseconds>(passed).count())
      .EndObject();
  return JsonResponse(std::move(json));
}

Result<Response> PostSqlLanes(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string query, ask.params.Text("query"));
  SL_ASSIGN_OR_RETURN(const std::string title, ask.params.TextOr("name", "SQL"));
  const std::string key = title + '\n' + query;
  std::vector<const Lane*> lanes = ask.view.QueryLanes(key);
  if (lanes.empty()) {
    constexpr int64_t kMost = 1'000'000;
    SL_ASSIGN_OR_RETURN(const Ran ran, RunQuery(ask, kMost));
    if (!ran.table) return ran.problem;
    if (ran.table->rows() > kMost)
      return Error{ErrorCode::kUnsupported,
                   fmt::format("the result has more than {} rows; aggregate or filter", kMost)};
    SL_ASSIGN_OR_RETURN(lanes, ask.view.KeepQueryLanes(key, title, *ran.table));
  }
  JsonWriter json;
  json.BeginObject().Key("lanes").BeginArray();
  for (const Lane* lane : lanes) WriteQueryLane(json, ask, *lane);
  json.EndArray().EndObject();
  return JsonResponse(std::move(json));
}

Result<Response> GetSchema(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const store::Job* job, NeedJob(ask));
  SL_ASSIGN_OR_RETURN(query::Catalog * catalog, ask.open.cache->Catalog(*job));
  const std::lock_guard lock(ask.open.cache->catalog_mutex());
  JsonWriter json;
  json.BeginObject().Key("tables").BeginArray();
  for (const auto& table : catalog->tables()) {
    json.BeginObject().Key("name").String(table->name).Key("kind").String(KindOf(*table));
    json.Key("doc").String(table->doc).Key("columns").BeginArray();
    // Computing every analysis of a large job only to name its columns would take too long.
    if (SliceCount(*job) <= kMaxSlicesToPrepare) table->Prepare();
    for (const query::SqlColumn& column : table->columns) {
      json.BeginObject().Key("name").String(column.name).Key("type").String(column.type);
      json.Key("doc").String(column.doc).EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
