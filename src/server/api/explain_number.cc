#include "analysis/viewer/explain_number.h"

#include "server/api/handlers.h"
#include "server/api/message.h"
#include "server/api/metric_source.h"

namespace steplens::server {

Result<Response> ExplainNumber(const Ask& ask) {
  analysis::viewer::NumberQuestion question;
  SL_ASSIGN_OR_RETURN(question.metric, ask.params.Text("name"));
  SL_ASSIGN_OR_RETURN(question.column, ask.params.TextOr("column", ""));
  SL_ASSIGN_OR_RETURN(question.args, MetricArgsParam(ask));
  ask.params.Raw("row").ForEachMember([&](std::string_view column, JsonValue value) {
    question.row.emplace(column,
                         value.IsString() ? std::string(*value.AsString()) : value.ToText());
  });
  SL_ASSIGN_OR_RETURN(const store::Job* job, NeedJob(ask));
  SL_ASSIGN_OR_RETURN(const analysis::viewer::NumberAnswer answer,
                      analysis::viewer::ExplainNumber(question, *job));
  const auto slot = ask.view.SlotOf(answer.rank);
  JsonWriter json;
  json.BeginObject().Key("title").BeginObject();
  WriteMessage(json, answer.title);
  json.EndObject().Key("items").BeginArray();
  for (const analysis::viewer::NumberPart& part : answer.parts) {
    json.BeginObject();
    WriteMessage(json, part.wording);
    json.Key("share").Double(part.share).Key("ns").Int(part.dur_ns);
    if (slot) json.Key("track").Int(ask.view.ranks()[*slot]->timeline->lanes().front()->id);
    json.Key("t0").Int(part.begin_ns).Key("t1").Int(AddSaturating(part.begin_ns, part.dur_ns));
    json.EndObject();
  }
  json.EndArray().Key("verdict").BeginObject();
  WriteMessage(json, answer.verdict);
  json.EndObject().Key("definition").String(answer.definition);
  json.Key("query").String(answer.query).EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
