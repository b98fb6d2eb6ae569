#include "server/api/cells.h"
#include "server/api/handlers.h"
#include "server/api/metric_source.h"

namespace steplens::server {

Result<Response> PostMetric(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string name, ask.params.Text("name"));
  SL_ASSIGN_OR_RETURN(const store::Job* job, NeedJob(ask));
  SL_ASSIGN_OR_RETURN(const NamedResult result, ComputeNamed(ask, name, *job));
  JsonWriter json;
  json.BeginObject().Key("tables").BeginObject();
  for (const table::Table& table : result.tables) {
    json.Key(table.name()).BeginObject();
    WriteTable(json, table, SIZE_MAX);
    json.EndObject();
  }
  json.EndObject().Key("definition").String(result.definition);
  json.Key("query").String(result.query).Key("warnings").BeginArray();
  for (const std::string& warning : result.warnings) json.String(warning);
  json.EndArray().EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
