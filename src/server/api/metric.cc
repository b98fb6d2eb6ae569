#include "server/api/cells.h"
#include "server/api/handlers.h"
#include "server/api/metric_source.h"

namespace steplens::server {

Result<Response> PostMetric(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string name, ask.params.Text("name"));
  SL_ASSIGN_OR_RETURN(const store::Job* job, NeedJob(ask));
  SL_ASSIGN_OR_RETURN(const NamedResult result, ComputeNamed(ask, name, *job));
  JsonWriter json;
  json.BeginObject();
  WriteAnswer(json, result.tables, result.definition, result.query, result.warnings);
  json.EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
