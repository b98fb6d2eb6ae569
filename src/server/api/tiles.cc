#include <fmt/format.h>

#include "server/api/handlers.h"

namespace steplens::server {
namespace {

constexpr size_t kMaxTiles = 256;

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

std::string MakeTile(const Ask& ask, const TileKey& key, const Lane& lane) {
  std::string out;
  const int64_t base_ns = ask.BaseNs(lane.rank_slot);
  switch (lane.kind) {
    case LaneKind::kSlices: {
      static const std::vector<bool> kNoFlows;
      const auto& flows = lane.is_derived() ? kNoFlows : ask.view.RankOf(lane).timeline->has_flow();
      AppendSliceTile(out, key, lane.rows, base_ns, flows);
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

}  // namespace

Result<Response> PostTiles(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<TileKey> keys, KeysOf(ask.params));
  TileCache& cache = ask.open.dataset->tiles();
  std::vector<std::shared_ptr<const std::string>> tiles(keys.size());
  size_t bytes = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Lane* lane = ask.view.FindLane(keys[i].track);
    if (lane == nullptr) {
      // A lane of a rank that is not read yet, as after a restart of the server.
      if (ask.open.dataset->is_ready())
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("'keys': there is no track {}", keys[i].track)};
      std::string bare;
      AppendBareTile(bare, keys[i], TileKind::kNotReady);
      tiles[i] = std::make_shared<std::string>(std::move(bare));
    } else {
      const TileCache::Key key{ask.align, keys[i].track, keys[i].level, keys[i].index};
      tiles[i] = cache.Find(key);
      if (!tiles[i]) {
        tiles[i] = std::make_shared<std::string>(MakeTile(ask, keys[i], *lane));
        cache.Insert(key, tiles[i]);
      }
    }
    bytes += tiles[i]->size();
  }
  Response response;
  response.content_type = "application/octet-stream";
  response.body.reserve(bytes);
  for (const auto& tile : tiles) response.body += *tile;
  return response;
}

}  // namespace steplens::server
