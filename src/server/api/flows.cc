#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "server/api/handlers.h"

namespace steplens::server {
namespace {

struct Arrow {
  const Lane* from = nullptr;
  const Lane* to = nullptr;
  int64_t from_ns = 0;  // shown
  int64_t to_ns = 0;
  uint32_t flow = 0;
  size_t slot = 0;
  uint32_t category = 0;
};

struct Found {
  std::vector<Arrow> arrows;
  std::vector<std::pair<std::string, uint64_t>> categories;  // with counts
};

// Arrows between wanted lanes that touch the range.
Found Collect(const Ask& ask, const std::vector<const Lane*>& lanes,
              const std::vector<std::string>& wanted_categories, int64_t t0, int64_t t1) {
  std::vector<bool> wanted(ask.view.lane_count() + 1, false);
  std::vector<bool> wanted_rank(ask.view.ranks().size(), false);
  for (const Lane* lane : lanes) {
    wanted[lane->id] = true;
    wanted_rank[lane->rank_slot] = true;
  }
  Found out;
  std::map<std::string, uint32_t, std::less<>> numbers;
  for (size_t slot = 0; slot < wanted_rank.size(); ++slot) {
    if (!wanted_rank[slot]) continue;
    const ShownRank& rank = *ask.view.ranks()[slot];
    const int64_t base_ns = ask.BaseNs(slot);
    const auto& flows = rank.store->flows;
    for (uint32_t i = 0; i < flows.size(); ++i) {
      Arrow arrow;
      arrow.from_ns = SubtractSaturating(flows.from_ns[i], base_ns);
      arrow.to_ns = SubtractSaturating(flows.to_ns[i], base_ns);
      if (std::max(arrow.from_ns, arrow.to_ns) < t0 || std::min(arrow.from_ns, arrow.to_ns) > t1)
        continue;
      arrow.from = rank.timeline->LaneOf(flows.from_track[i]);
      arrow.to = rank.timeline->LaneOf(flows.to_track[i]);
      if (arrow.from == nullptr || arrow.to == nullptr || !wanted[arrow.from->id] ||
          !wanted[arrow.to->id])
        continue;
      const std::string_view kind = rank.store->Text(flows.kind[i]);
      auto number = numbers.find(kind);
      if (number == numbers.end()) {
        number = numbers.emplace(kind, out.categories.size()).first;
        out.categories.emplace_back(kind, 0);
      }
      ++out.categories[number->second].second;
      if (!wanted_categories.empty() &&
          std::find(wanted_categories.begin(), wanted_categories.end(), kind) ==
              wanted_categories.end())
        continue;
      arrow.flow = i;
      arrow.slot = slot;
      arrow.category = number->second;
      out.arrows.push_back(arrow);
    }
  }
  return out;
}

int64_t RowAt(const Lane& lane, int64_t t_ns, bool is_target) {
  const uint32_t slice = SliceAtFlowEnd(lane.rows, t_ns, is_target);
  return slice == store::kNoId ? 0 : static_cast<int64_t>(lane.rows.RowOf(slice));
}

void WriteArrow(JsonWriter& json, const Ask& ask, const Arrow& arrow, int64_t count) {
  const int64_t base_ns = ask.BaseNs(arrow.slot);
  json.BeginArray().Int(arrow.from->id);
  json.Int(RowAt(*arrow.from, AddSaturating(arrow.from_ns, base_ns), false)).Int(arrow.from_ns);
  json.Int(arrow.to->id);
  json.Int(RowAt(*arrow.to, AddSaturating(arrow.to_ns, base_ns), true)).Int(arrow.to_ns);
  json.Int(count).Int(arrow.category).EndArray();
}

// Arrows of one category between the same lanes whose ends lie close together are drawn as the
// first of them, with their count. Lanes that are joined by arrows keep at least one bundle.
std::vector<std::pair<Arrow, int64_t>> Bundle(const std::vector<Arrow>& arrows, int64_t length_ns,
                                              size_t most) {
  for (int64_t width_ns = std::max<int64_t>(1, length_ns / 2000);; width_ns *= 4) {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, int64_t, int64_t>, std::pair<Arrow, int64_t>>
        bundles;
    for (const Arrow& arrow : arrows) {
      const auto key = std::tuple(arrow.category, arrow.from->id, arrow.to->id,
                                  arrow.from_ns / width_ns, arrow.to_ns / width_ns);
      auto [at, is_new] = bundles.try_emplace(key, arrow, 0);
      ++at->second.second;
    }
    if (bundles.size() <= most || width_ns > length_ns) {
      std::vector<std::pair<Arrow, int64_t>> out;
      for (const auto& [key, bundle] : bundles) out.push_back(bundle);
      return out;
    }
  }
}

}  // namespace

Result<Response> PostFlows(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> lanes, SliceLanesParam(ask, "tracks", true));
  SL_ASSIGN_OR_RETURN(const std::vector<std::string> categories, ask.params.Texts("cats"));
  SL_ASSIGN_OR_RETURN(const int64_t t0, ask.params.IntOr("t0", 0));
  SL_ASSIGN_OR_RETURN(const int64_t t1, ask.params.IntOr("t1", INT64_MAX));
  SL_ASSIGN_OR_RETURN(const int64_t most, ask.params.IntIn("max", 2000, 1, 20'000));
  if (t1 < t0) return Error{ErrorCode::kInvalidArgument, "'t1' lies before 't0'"};
  const Found found = Collect(ask, lanes, categories, t0, t1);
  const bool bundled = found.arrows.size() > static_cast<size_t>(most);
  JsonWriter json;
  json.BeginObject().Key("cats").BeginArray();
  for (const auto& [name, count] : found.categories) {
    json.BeginObject().Key("name").String(name).Key("count").Int(static_cast<int64_t>(count));
    json.EndObject();
  }
  json.EndArray().Key("flows").BeginArray();
  if (bundled) {
    const int64_t length_ns = SubtractSaturating(std::min(t1, ask.view.end_ns()), t0);
    for (const auto& [arrow, count] : Bundle(found.arrows, length_ns, static_cast<size_t>(most)))
      WriteArrow(json, ask, arrow, count);
  } else {
    for (const Arrow& arrow : found.arrows) WriteArrow(json, ask, arrow, 1);
  }
  json.EndArray().Key("bundled").Bool(bundled).EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
