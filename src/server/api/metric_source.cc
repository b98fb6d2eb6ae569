#include "server/api/metric_source.h"

#include <fmt/format.h>

namespace steplens::server {

namespace {

using analysis::QuestionArgs;

// Lists are handed on in the form "0,3-7" that metrics read.
std::string ListText(JsonValue list) {
  std::string out;
  list.ForEachElement([&](JsonValue item) {
    if (!out.empty()) out += ',';
    out += item.ToText();
  });
  return out;
}

// Lanes as the metrics know them: rows of `tracks` of one rank, that of the first lane.
Status TranslateTracks(const Ask& ask, JsonValue list, QuestionArgs& args) {
  const Lane* first = nullptr;
  std::string rows;
  Status status;
  list.ForEachElement([&](JsonValue item) {
    const auto id = item.AsInt();
    const Lane* lane = id ? ask.view.FindLane(*id) : nullptr;
    if (lane == nullptr) {
      status = Error{ErrorCode::kInvalidArgument,
                     fmt::format("'args.tracks': there is no track {}", item.ToText())};
      return;
    }
    if (first == nullptr) first = lane;
    if (lane->rank_slot != first->rank_slot) return;
    const auto add = [&](const Lane& one) {
      if (one.track == store::kNoTrack) return;
      if (!rows.empty()) rows += ',';
      rows += std::to_string(static_cast<uint32_t>(one.track));
    };
    add(*lane);
    for (const uint32_t part : lane->parts) add(*ask.view.FindLane(part));
  });
  if (first != nullptr) args.values["rank"] = ask.view.RankOf(*first).rank;
  if (!rows.empty()) args.values["tracks"] = std::move(rows);
  return status;
}

}  // namespace

Result<QuestionArgs> MetricArgsParam(const Ask& ask) {
  QuestionArgs args;
  const JsonValue object = ask.params.Raw("args");
  object.ForEachMember([&](std::string_view name, JsonValue value) {
    if (value.IsArray()) {
      if (name != "tracks") args.values[std::string(name)] = ListText(value);
    } else if (value.IsString()) {
      args.values[std::string(name)] = std::string(*value.AsString());
    } else if (const auto whole = value.AsInt()) {
      args.values[std::string(name)] = *whole;
    } else if (const auto number = value.AsDouble()) {
      args.values[std::string(name)] = *number;
    }
  });
  if (object["tracks"].IsArray()) SL_RETURN_IF_ERROR(TranslateTracks(ask, object["tracks"], args));
  // Shown times count from the base of the rank they belong to.
  const Result<std::optional<int64_t>> rank = args.Int("rank");
  const std::vector<size_t> slots = ask.view.SlotsByRank();
  std::optional<size_t> slot;
  if (rank.ok() && *rank) slot = ask.view.SlotOf(**rank);
  if (!slot && !slots.empty()) slot = slots.front();
  args.values["origin_ns"] = slot ? ask.BaseNs(*slot) : ask.view.origin_ns();
  return args;
}

Result<NamedResult> ComputeNamed(const Ask& ask, std::string_view name, const store::Job& job) {
  SL_ASSIGN_OR_RETURN(const QuestionArgs args, MetricArgsParam(ask));
  const auto read_args = [&](const store::TraceStore& store, store::SliceId slice) {
    Result<std::string> text = ask.open.args.Read(store, slice);
    return text.ok() ? *std::move(text) : std::string();
  };
  SL_ASSIGN_OR_RETURN(analysis::QuestionAnswer answer,
                      analysis::AskQuestion(name, args, job, read_args));
  return NamedResult{std::move(answer.tables), std::move(answer.definition),
                     std::move(answer.query), std::move(answer.warnings)};
}

}  // namespace steplens::server
