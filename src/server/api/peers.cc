#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "server/api/handlers.h"
#include "server/api/rank_arrows.h"

// The same work on other ranks.

namespace steplens::server {
namespace {

struct Peer {
  SliceRef ref{};
  bool is_last = false;
};

struct Peers {
  std::string_view by;
  std::vector<Peer> found{};                               // by rank
  std::vector<std::pair<int64_t, std::string>> missing{};  // rank, why
};

// The members of the collective that a slice is; nothing for other slices.
std::optional<Peers> ByCall(const Ask& ask, const RankLinks& links, const SliceRef& ref) {
  const store::TraceStore& store = *ask.view.RankOf(*ref.home).store;
  const auto row = analysis::CommOpOf(store, store::SliceId{ref.slice});
  if (!row) return std::nullopt;
  const auto* call = links.collectives().Find(JobIndex(ask, *ref.home), *row);
  if (call == nullptr) return std::nullopt;
  Peers out{"call"};
  const int64_t shortest_ns = call->ShortestNs();
  bool is_last_known = call->parts.size() < 2;
  for (const analysis::CollectivePart& part : call->parts) {
    const SliceRef peer = SliceOf(ask, {part.rank_index, part.row});
    if (peer.lane == nullptr) continue;
    const bool is_last = !is_last_known && part.dur_ns == shortest_ns;
    is_last_known = is_last_known || is_last;
    out.found.push_back({peer, is_last});
  }
  return out;
}

// Slices of a name in a lane, in order of begin.
std::vector<uint32_t> SlicesOfName(const Lane& lane, uint32_t name) {
  const SliceColumns& columns = lane.rows.columns();
  std::vector<uint32_t> out;
  for (size_t i = 0; i < lane.rows.size(); ++i) {
    if (columns.name_of(lane.rows.slice_at(i)) == name) out.push_back(lane.rows.slice_at(i));
  }
  std::sort(out.begin(), out.end(), [&](uint32_t a, uint32_t b) {
    return columns.begin(a) != columns.begin(b) ? columns.begin(a) < columns.begin(b) : a < b;
  });
  return out;
}

// "r3/hw/stream2" -> "/hw/stream2".
std::string_view PathInRank(const Lane& lane) {
  const std::string_view path = lane.path;
  return path.substr(std::min(path.find('/'), path.size()));
}

// The lanes like `own` (threads, stacks, streams) directly below the group of that path, in display
// order.
std::vector<const Lane*> LikeLanesIn(const ShownRank& rank, std::string_view group_path,
                                     const Lane& own) {
  std::vector<const Lane*> out;
  for (const auto& lane : rank.timeline->lanes()) {
    const std::string_view path = PathInRank(*lane);
    const bool is_alike = lane->kind == own.kind && lane->flags == own.flags;
    if (is_alike && path.substr(0, path.rfind('/')) == group_path) out.push_back(lane.get());
  }
  return out;
}

// The lane of another rank that is what `own` is here: that of the same path. Threads have numbers
// of their own on every rank; there it is the one at the same place of a group with as many lanes.
const Lane* LaneLike(const ShownRank& rank, const ShownRank& own_rank, const Lane& own) {
  const std::string_view path = PathInRank(own);
  const std::string_view group = path.substr(0, path.rfind('/'));
  const std::vector<const Lane*> here = LikeLanesIn(own_rank, group, own);
  const std::vector<const Lane*> there = LikeLanesIn(rank, group, own);
  for (const Lane* lane : there) {
    if (PathInRank(*lane) == path) return lane;
  }
  const auto place = static_cast<size_t>(std::find(here.begin(), here.end(), &own) - here.begin());
  return here.size() == there.size() && place < there.size() ? there[place] : nullptr;
}

// The slice of the same name and number in the same lane of each rank.
Peers ByOrdinal(const Ask& ask, const SliceRef& ref) {
  const uint32_t name = ref.home->rows.columns().name_of(ref.slice);
  const std::vector<uint32_t> own = SlicesOfName(*ref.home, name);
  const auto k = static_cast<size_t>(std::find(own.begin(), own.end(), ref.slice) - own.begin());
  Peers out{"ordinal"};
  for (const size_t slot : ask.view.SlotsByRank()) {
    const ShownRank& rank = *ask.view.ranks()[slot];
    const Lane* lane = LaneLike(rank, ask.view.RankOf(*ref.home), *ref.home);
    if (lane == nullptr) {
      out.missing.emplace_back(rank.rank, "no such lane");
      continue;
    }
    const std::vector<uint32_t> slices = SlicesOfName(*lane, name);
    if (k >= slices.size()) {
      out.missing.emplace_back(rank.rank,
                               fmt::format("has {} of this name, needs {}", slices.size(), k + 1));
      continue;
    }
    out.found.push_back({{lane, slices[k], lane}});
  }
  return out;
}

}  // namespace

Result<Response> GetPeers(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const SliceRef ref, SliceParam(ask));
  SL_ASSIGN_OR_RETURN(const store::Job* job, NeedJob(ask));
  std::optional<Peers> peers;
  if (!ref.home->is_derived()) {
    SL_ASSIGN_OR_RETURN(const auto links, ask.open.cache->Links(*job));
    peers = ByCall(ask, *links, ref);
  }
  if (!peers) peers = ByOrdinal(ask, ref);
  JsonWriter json;
  json.BeginObject().Key("by").String(peers->by).Key("slices").BeginArray();
  for (const Peer& peer : peers->found) {
    json.BeginObject().Key("rank").Int(ask.view.RankOf(*peer.ref.lane).rank);
    WriteSlice(json, ask, *peer.ref.lane, peer.ref.slice);
    json.Key("lane").String(LaneTitle(ask, *peer.ref.lane));
    json.Key("is_last").Bool(peer.is_last).EndObject();
  }
  json.EndArray().Key("missing").BeginArray();
  for (const auto& [rank, why] : peers->missing)
    json.BeginObject().Key("rank").Int(rank).Key("why").String(why).EndObject();
  json.EndArray().EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
