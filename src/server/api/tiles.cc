#include <fmt/format.h>

#include "server/api/handlers.h"
#include "server/api/rule_shades.h"

namespace steplens::server {
namespace {

Result<std::vector<TileKey>> KeysOf(const Params& params) {
  const JsonValue list = params.Raw("keys");
  if (!list.IsArray()) return Error{ErrorCode::kInvalidArgument, "'keys' is not a list"};
  std::vector<TileKey> keys;
  bool sound = true;
  list.ForEachElement([&](JsonValue item) {
    std::array<uint32_t, 3> parts{};
    size_t count = 0;
    item.ForEachElement([&](JsonValue part) {
      const auto number = part.AsInt();
      if (!number || *number < 0 || *number > UINT32_MAX || count == parts.size()) {
        sound = false;
        return;
      }
      parts[count++] = static_cast<uint32_t>(*number);
    });
    const TileKey key{parts[0], parts[1], parts[2]};
    sound = sound && count == parts.size() && key.IsSane() && keys.size() < kMaxTiles;
    if (sound) keys.push_back(key);
  });
  if (!sound)
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'keys' must be at most {} lists [track, level, index]", kMaxTiles)};
  return keys;
}

// What runs are coloured by.
struct TileShade {
  ShadeBy by = ShadeBy::kNone;
  std::shared_ptr<const RuleSet> rules{};  // of kRules

  Result<std::span<const uint8_t>> Of(const Ask& ask, const Lane& lane) const {
    const ShownRank& rank = ask.view.RankOf(lane);
    if (rules) return rules->ShadesOf(ask, lane.rank_slot);
    return rank.shades.By(by, *rank.store);
  }
};

// "" and "none" are nothing.
Result<TileShade> ShadeParam(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::string text, ask.params.TextOr("shade", ""));
  if (text.empty() || text == "none") return TileShade{};
  if (text == "percentile") return TileShade{ShadeBy::kPercentile};
  if (text == "module") return TileShade{ShadeBy::kModule};
  if (text == "rules") {
    SL_ASSIGN_OR_RETURN(std::shared_ptr<const RuleSet> rules, RulesParam(ask));
    return rules ? TileShade{ShadeBy::kRules, std::move(rules)} : TileShade{};
  }
  return Error{ErrorCode::kInvalidArgument, "'shade' must be none, percentile, module or rules"};
}

Status AppendTileOf(const Ask& ask, const TileKey& key, const Lane& lane, const TileShade& shade,
                    std::string& out) {
  const int64_t base_ns = ask.BaseNs(lane.rank_slot);
  switch (lane.kind) {
    case LaneKind::kSlices: {
      static const std::vector<bool> kNoFlows;
      // Slices of derived lanes are not in the store that flows and shades are numbered by.
      if (lane.is_derived()) {
        AppendSliceTile(out, key, lane.rows, base_ns, kNoFlows);
        break;
      }
      SL_ASSIGN_OR_RETURN(const std::span<const uint8_t> shades, shade.Of(ask, lane));
      AppendSliceTile(out, key, lane.rows, base_ns, ask.view.RankOf(lane).timeline->has_flow(),
                      shades);
      break;
    }
    case LaneKind::kCounter:
      AppendCounterTile(out, key, lane.counter, base_ns);
      break;
    case LaneKind::kRank:
    case LaneKind::kGroup:
      AppendSummaryTile(out, key, lane.summary, lane.with_waits ? &*lane.with_waits : nullptr,
                        base_ns);
      break;
  }
  return {};
}

// Nothing is kept: a page holds the tiles it has drawn, and making one takes less than sending it.
Status AppendTile(const Ask& ask, const TileKey& key, const TileShade& shade, std::string& out) {
  const Lane* lane = ask.view.FindLane(key.track);
  if (lane != nullptr) return AppendTileOf(ask, key, *lane, shade, out);
  if (ask.open.dataset->is_ready())
    return Error{ErrorCode::kInvalidArgument, fmt::format("there is no track {}", key.track)};
  // A lane of a rank that is not read yet, as after a restart of the server.
  AppendBareTile(out, key, TileKind::kNotReady);
  return {};
}

}  // namespace

std::string TileSet(const Ask& ask) {
  return fmt::format("{}-{}", ask.workspace.run_id(), ask.view.generation());
}

Result<Response> GetTile(const Ask& ask) {
  TileKey key;
  const std::pair<const char*, uint32_t*> parts[] = {
      {"track", &key.track}, {"level", &key.level}, {"index", &key.index}};
  for (const auto& [name, part] : parts) {
    SL_ASSIGN_OR_RETURN(const int64_t number, ask.params.Int(name));
    if (number < 0 || number > UINT32_MAX)
      return Error{ErrorCode::kInvalidArgument, fmt::format("'{}' is out of range", name)};
    *part = static_cast<uint32_t>(number);
  }
  if (!key.IsSane()) return Error{ErrorCode::kInvalidArgument, "there is no such tile"};
  SL_ASSIGN_OR_RETURN(const std::string set, ask.params.TextOr("set", ""));
  if (!set.empty() && set != TileSet(ask))
    return Error{ErrorCode::kNotFound, "'set': these tiles are void; ask for the data set again"};
  SL_ASSIGN_OR_RETURN(const TileShade shade, ShadeParam(ask));
  Response response;
  response.content_type = "application/octet-stream";
  SL_RETURN_IF_ERROR(AppendTile(ask, key, shade, response.body));
  // Only an address that will never mean another tile may be kept.
  if (!set.empty() && ask.view.FindLane(key.track) != nullptr)
    response.headers.emplace_back("Cache-Control", "private, max-age=31536000, immutable");
  return response;
}

Result<Response> PostTiles(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<TileKey> keys, KeysOf(ask.params));
  SL_ASSIGN_OR_RETURN(const TileShade shade, ShadeParam(ask));
  Response response;
  response.content_type = "application/octet-stream";
  for (const TileKey& key : keys) SL_RETURN_IF_ERROR(AppendTile(ask, key, shade, response.body));
  return response;
}

Result<Response> GetModules(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const int64_t rank, ask.params.Int("rank"));
  const auto slot = ask.view.SlotOf(rank);
  if (!slot) return Error{ErrorCode::kNotFound, fmt::format("there is no rank {}", rank)};
  const ShownRank& shown = *ask.view.ranks()[*slot];
  JsonWriter json;
  json.BeginObject().Key("modules").BeginArray();
  for (const std::string& path : shown.shades.Modules(*shown.store)) json.String(path);
  json.EndArray().EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
