#include "server/explain.h"

#include "server/api/handlers.h"

namespace steplens::server {
namespace {

void WriteWording(JsonWriter& json, const Wording& wording) {
  json.Key("key").String(wording.key).Key("args").BeginObject();
  for (const auto& [name, value] : wording.args) json.Key(name).String(value);
  json.EndObject().Key("text").String(wording.text);
}

void WriteItem(JsonWriter& json, const Ask& ask, const ExplainItem& item) {
  json.BeginObject();
  WriteWording(json, item.wording);
  json.Key("share").Double(item.share).Key("ns").Int(item.ns);
  if (item.lane != nullptr) {
    json.Key("track").Int(item.lane->id);
    if (item.slice != store::kNoId) json.Key("i").Int(item.slice);
    json.Key("t0").Int(ask.ToShown(*item.lane, item.begin_ns));
    json.Key("t1").Int(ask.ToShown(*item.lane, item.end_ns));
  }
  json.EndObject();
}

Result<Explanation> Explain(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string kind, ask.params.Text("kind"));
  if (kind == "gap") {
    SL_ASSIGN_OR_RETURN(const Lane* lane, LaneParam(ask));
    SL_ASSIGN_OR_RETURN(const int64_t t, ask.params.Int("t"));
    return ExplainGap(ask.view, *lane, ask.FromShown(*lane, t));
  }
  if (kind != "wait" && kind != "slice")
    return Error{ErrorCode::kInvalidArgument, "'kind' must be gap, wait or slice"};
  SL_ASSIGN_OR_RETURN(const SliceRef ref, SliceParam(ask));
  if (kind == "wait") return ExplainWait(ask.view, *ref.lane, ref.slice, ask.base_ns);
  return ExplainSlice(ask.view, *ref.lane, ref.slice);
}

}  // namespace

Result<Response> PostExplain(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const Explanation explanation, Explain(ask));
  JsonWriter json;
  json.BeginObject().Key("title").BeginObject();
  WriteWording(json, explanation.title);
  json.EndObject().Key("items").BeginArray();
  for (const ExplainItem& item : explanation.items) WriteItem(json, ask, item);
  json.EndArray().Key("verdict").BeginObject();
  WriteWording(json, explanation.verdict);
  json.EndObject().EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
