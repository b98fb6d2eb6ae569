#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "server/api/handlers.h"
#include "server/api/rank_arrows.h"

namespace steplens::server {
namespace {

struct Arrow {
  const Lane* from = nullptr;
  const Lane* to = nullptr;
  int64_t from_ns = 0;  // shown
  int64_t to_ns = 0;
  uint32_t category = 0;
};

// Arrows between ranks; off until they are asked for by name.
constexpr std::string_view kCollective = "collective";
constexpr std::string_view kSendReceive = "send_receive";
// In jobs with more operations than this, finding what joins ranks takes seconds: not unless asked.
constexpr size_t kMaxCommOpsUnasked = 300'000;

struct Category {
  std::string name;
  std::optional<uint64_t> count = 0;  // nothing: not counted
  bool is_off = false;                // drawn only if it is asked for by name
};

// Gathers the arrows between the wanted lanes that touch the range.
class ArrowCollector {
 public:
  ArrowCollector(const Ask& ask, const std::vector<const Lane*>& lanes,
                 std::vector<std::string> wanted, int64_t t0, int64_t t1)
      : ask_(ask), wanted_(std::move(wanted)), t0_(t0), t1_(t1) {
    shown_as_.assign(ask.view.lane_count() + 1, nullptr);
    wanted_rank_.assign(ask.view.ranks().size(), false);
    for (const Lane* lane : lanes) {
      wanted_rank_[lane->rank_slot] = true;
      if (!lane->is_merged() && !lane->is_query()) shown_as_[lane->id] = lane;
    }
    // Arrows of lanes that are shown merged end at the rows of the merged one.
    for (const Lane* lane : lanes) {
      for (const uint32_t part : lane->parts) shown_as_[part] = lane;
    }
  }

  void CollectOwn() {
    for (size_t slot = 0; slot < wanted_rank_.size(); ++slot) {
      if (!wanted_rank_[slot]) continue;
      const ShownRank& rank = *ask_.view.ranks()[slot];
      const int64_t base_ns = ask_.BaseNs(slot);
      const auto& flows = rank.store->flows;
      for (uint32_t i = 0; i < flows.size(); ++i) {
        const int64_t from_ns = SubtractSaturating(flows.from_ns[i], base_ns);
        const int64_t to_ns = SubtractSaturating(flows.to_ns[i], base_ns);
        if (!Touches(from_ns, to_ns)) continue;
        Take({rank.timeline->LaneOf(flows.from_track[i]), rank.timeline->LaneOf(flows.to_track[i]),
              from_ns, to_ns},
             rank.store->Text(flows.kind[i]), false);
      }
    }
  }

  void CollectBetweenRanks(const RankLinks& links) {
    const auto take = [&](std::string_view category) {
      return [this, category](const RankArrow& arrow) {
        if (Touches(arrow.from_ns, arrow.to_ns)) Take(arrow, category, true);
      };
    };
    ForEachCollectiveArrow(ask_, links, take(kCollective));
    ForEachTransferArrow(ask_, links, take(kSendReceive));
  }
  // Says that they can be asked for.
  void ListBetweenRanks() {
    for (const std::string_view name : {kCollective, kSendReceive})
      categories_.push_back({std::string(name), std::nullopt, true});
  }

  const std::vector<Arrow>& arrows() const { return arrows_; }
  const std::vector<Category>& categories() const { return categories_; }

 private:
  bool Touches(int64_t from_ns, int64_t to_ns) const {
    return std::max(from_ns, to_ns) >= t0_ && std::min(from_ns, to_ns) <= t1_;
  }

  void Take(const RankArrow& arrow, std::string_view name, bool is_off) {
    if (arrow.from == nullptr || arrow.to == nullptr) return;
    const Lane* from = shown_as_[arrow.from->id];
    const Lane* to = shown_as_[arrow.to->id];
    if (from == nullptr || to == nullptr) return;
    auto number = numbers_.find(name);
    if (number == numbers_.end()) {
      number = numbers_.emplace(name, static_cast<uint32_t>(categories_.size())).first;
      categories_.push_back({std::string(name), 0, is_off});
    }
    ++*categories_[number->second].count;
    const bool is_named = std::find(wanted_.begin(), wanted_.end(), name) != wanted_.end();
    if (is_named || (wanted_.empty() && !is_off))
      arrows_.push_back({from, to, arrow.from_ns, arrow.to_ns, number->second});
  }

  const Ask& ask_;
  std::vector<std::string> wanted_;  // categories; none: all that are not off
  int64_t t0_;
  int64_t t1_;
  std::vector<const Lane*> shown_as_;  // by lane id; null: not asked for
  std::vector<bool> wanted_rank_;      // by slot
  std::vector<Arrow> arrows_;
  std::vector<Category> categories_;
  std::map<std::string, uint32_t, std::less<>> numbers_;
};

int64_t RowAt(const Ask& ask, const Lane& lane, int64_t shown_ns, bool is_target) {
  const uint32_t slice = SliceAtFlowEnd(lane.rows, ask.FromShown(lane, shown_ns), is_target);
  return slice == store::kNoId ? 0 : static_cast<int64_t>(lane.rows.RowOf(slice));
}

void WriteArrow(JsonWriter& json, const Ask& ask, const Arrow& arrow, int64_t count) {
  json.BeginArray().Int(arrow.from->id);
  json.Int(RowAt(ask, *arrow.from, arrow.from_ns, false)).Int(arrow.from_ns);
  json.Int(arrow.to->id);
  json.Int(RowAt(ask, *arrow.to, arrow.to_ns, true)).Int(arrow.to_ns);
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

bool WantsRankLinks(const store::Job& job, const std::vector<std::string>& categories) {
  for (const std::string& name : categories) {
    if (name == kCollective || name == kSendReceive) return true;
  }
  size_t operations = 0;
  for (const store::TraceStore& rank : job.ranks) operations += rank.comm_ops.size();
  return operations <= kMaxCommOpsUnasked;
}

}  // namespace

Result<Response> PostFlows(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> lanes, SliceLanesParam(ask, "tracks", true));
  SL_ASSIGN_OR_RETURN(const std::vector<std::string> categories, ask.params.Texts("cats"));
  SL_ASSIGN_OR_RETURN(const int64_t t0, ask.params.IntOr("t0", 0));
  SL_ASSIGN_OR_RETURN(const int64_t t1, ask.params.IntOr("t1", INT64_MAX));
  SL_ASSIGN_OR_RETURN(const int64_t most, ask.params.IntIn("max", 2000, 1, 20'000));
  if (t1 < t0) return Error{ErrorCode::kInvalidArgument, "'t1' lies before 't0'"};
  ArrowCollector found(ask, lanes, categories, t0, t1);
  found.CollectOwn();
  if (const store::Job* job = ask.view.job(); job != nullptr && job->ranks.size() > 1) {
    if (WantsRankLinks(*job, categories)) {
      SL_ASSIGN_OR_RETURN(const auto links, ask.open.cache->Links(*job));
      found.CollectBetweenRanks(*links);
    } else {
      found.ListBetweenRanks();
    }
  }
  const bool bundled = found.arrows().size() > static_cast<size_t>(most);
  JsonWriter json;
  json.BeginObject().Key("cats").BeginArray();
  for (const Category& category : found.categories()) {
    json.BeginObject().Key("name").String(category.name);
    json.Key("count");
    category.count ? json.Int(static_cast<int64_t>(*category.count)) : json.Null();
    json.Key("off").Bool(category.is_off).EndObject();
  }
  json.EndArray().Key("flows").BeginArray();
  if (bundled) {
    const int64_t length_ns = SubtractSaturating(std::min(t1, ask.view.end_ns()), t0);
    for (const auto& [arrow, count] : Bundle(found.arrows(), length_ns, static_cast<size_t>(most)))
      WriteArrow(json, ask, arrow, count);
  } else {
    for (const Arrow& arrow : found.arrows()) WriteArrow(json, ask, arrow, 1);
  }
  json.EndArray().Key("bundled").Bool(bundled).EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
