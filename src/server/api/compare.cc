#include "analysis/compare/pairs/compare_pair.h"

#include <fmt/format.h>

#include <memory>

#include "server/api/cells.h"
#include "server/api/handlers.h"

namespace steplens::server {
namespace {

namespace pairs = analysis::pairs;

// A side, and what keeps its data set in sight if it is another one than the request's.
struct Side {
  pairs::CompareSide asked;
  std::unique_ptr<Dataset::View> view;
};

// A number of a side; nothing if it is absent or null.
Result<std::optional<int64_t>> NumberOf(JsonValue side, std::string_view name,
                                        std::string_view part) {
  const JsonValue value = side[part];
  if (!value.exists() || value.ToText() == "null") return std::optional<int64_t>();
  const std::optional<int64_t> number = value.AsInt();
  if (number) return number;
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("'{}.{}' is not a whole number", name, part)};
}

// {"ds"?,"rank"?,"step"?}; the rank is the first one if absent.
Result<Side> SideParam(const Ask& ask, std::string_view name) {
  const JsonValue value = ask.params.Raw(name);
  if (!value.IsObject())
    return Error{ErrorCode::kInvalidArgument,
                 "'" + std::string(name) + "' must be an object {ds, rank, step}"};
  Side side;
  const Dataset::View* view = &ask.view;
  const std::string_view id = value["ds"].AsString().value_or(ask.open.dataset->id());
  if (id != ask.open.dataset->id()) {
    const OpenDataset* open = ask.workspace.Find(id);
    if (open == nullptr)
      return Error{ErrorCode::kNotFound, "there is no data set " + std::string(id)};
    // Nobody adds ranks to one that is ready: looking at two at a time cannot block.
    if (!open->dataset->WaitReady(kPatience))
      return Error{ErrorCode::kCancelled, "ranks of the other data set are still being read"};
    side.view = std::make_unique<Dataset::View>(*open->dataset);
    view = side.view.get();
  } else {
    SL_ASSIGN_OR_RETURN([[maybe_unused]] const store::Job* const own, NeedJob(ask));
  }
  side.asked.job = view->job();
  const std::vector<size_t> slots = view->SlotsByRank();
  if (slots.empty()) return Error{ErrorCode::kNotFound, "the data set has no rank"};
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> rank, NumberOf(value, name, "rank"));
  SL_ASSIGN_OR_RETURN(side.asked.step, NumberOf(value, name, "step"));
  side.asked.rank = rank.value_or(view->ranks()[slots.front()]->rank);
  const auto slot = view->SlotOf(side.asked.rank);
  side.asked.origin_ns =
      slot ? (side.view ? *view->BaseNs(*slot, 0) : ask.BaseNs(*slot)) : view->origin_ns();
  return side;
}

}  // namespace

Result<Response> PostCompare(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const Side a, SideParam(ask, "a"));
  SL_ASSIGN_OR_RETURN(const Side b, SideParam(ask, "b"));
  pairs::CompareOptions options;
  SL_ASSIGN_OR_RETURN(options.group_by, ask.params.TextOr("group_by", options.group_by));
  SL_ASSIGN_OR_RETURN(options.key, ask.params.TextOr("key", ""));
  SL_ASSIGN_OR_RETURN(options.core, ask.params.TextOr("core", ""));
  SL_ASSIGN_OR_RETURN(const analysis::QuestionAnswer answer,
                      pairs::Compare(a.asked, b.asked, options));
  JsonWriter json;
  json.BeginObject();
  WriteAnswer(json, answer.tables, answer.definition, answer.query, answer.warnings);
  json.EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
