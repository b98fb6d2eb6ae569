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

  uint32_t rules_number() const { return rules ? rules->number() : 0; }
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

Result<std::string> MakeTile(const Ask& ask, const TileKey& key, const Lane& lane,
                             const TileShade& shade) {
  std::string out;
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
      AppendSummaryTile(out, key, lane.summary, base_ns);
      break;
  }
  return out;
}

using Tile = std::shared_ptr<const std::string>;

Result<Tile> FindOrMakeTile(const Ask& ask, const TileKey& wanted, const TileShade& shade) {
  const Lane* lane = ask.view.FindLane(wanted.track);
  if (lane == nullptr) {
    // A lane of a rank that is not read yet, as after a restart of the server.
    if (ask.open.dataset->is_ready())
      return Error{ErrorCode::kInvalidArgument, fmt::format("there is no track {}", wanted.track)};
    std::string bare;
    AppendBareTile(bare, wanted, TileKind::kNotReady);
    return Tile(std::make_shared<std::string>(std::move(bare)));
  }
  TileCache& cache = ask.open.dataset->tiles();
  const TileCache::Key key{ask.align,    wanted.track, wanted.level,
                           wanted.index, shade.by,     shade.rules_number()};
  Tile tile = cache.Find(key);
  if (!tile) {
    SL_ASSIGN_OR_RETURN(std::string made, MakeTile(ask, wanted, *lane, shade));
    tile = std::make_shared<std::string>(std::move(made));
    cache.Insert(key, tile);
  }
  return tile;
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
  SL_ASSIGN_OR_RETURN(const Tile tile, FindOrMakeTile(ask, key, shade));
  Response response;
  response.content_type = "application/octet-stream";
  response.body = *tile;
  // Only an address that will never mean another tile may be kept.
  if (!set.empty() && ask.view.FindLane(key.track) != nullptr)
    response.headers.emplace_back("Cache-Control", "private, max-age=31536000, immutable");
  return response;
}

Result<Response> PostTiles(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<TileKey> keys, KeysOf(ask.params));
  SL_ASSIGN_OR_RETURN(const TileShade shade, ShadeParam(ask));
  std::vector<Tile> tiles;
  tiles.reserve(keys.size());
  size_t bytes = 0;
  for (const TileKey& key : keys) {
    SL_ASSIGN_OR_RETURN(Tile tile, FindOrMakeTile(ask, key, shade));
    bytes += tile->size();
    tiles.push_back(std::move(tile));
  }
  Response response;
  response.content_type = "application/octet-stream";
  response.body.reserve(bytes);
  for (const auto& tile : tiles) response.body += *tile;
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
