#include <algorithm>
#include <cmath>

#include "server/api/filter_param.h"
#include "server/api/handlers.h"
#include "server/api/slice_matches.h"
#include "server/percentiles.h"

namespace steplens::server {
namespace {

// The slices asked for: of a name given as number or text, or of a filter.
Result<SliceFilter> NameOrFilterParam(const Ask& ask) {
  if (ask.params.Has("q") || ask.params.Has("filter")) return FilterParam(ask);
  const JsonValue value = ask.params.Raw("name");
  if (!value.exists()) return Error{ErrorCode::kInvalidArgument, "'name' is missing"};
  if (value.IsString()) return SliceFilter::OfName(*value.AsString());
  const auto id = value.AsInt();
  if (!id || *id < 0 || static_cast<size_t>(*id) >= ask.view.names().size())
    return Error{ErrorCode::kInvalidArgument, "'name' is neither a text nor the id of one"};
  return SliceFilter::OfName(ask.view.names().Text(static_cast<uint32_t>(*id)));
}

// Durations by slot of their rank.
using RankDurations = std::vector<std::vector<int64_t>>;

Result<RankDurations> CollectDurations(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const SliceFilter filter, NameOrFilterParam(ask));
  SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> lanes, SliceLanesParam(ask, "tracks", true));
  SliceMatches::Window window;
  SL_ASSIGN_OR_RETURN(window.t0, ask.params.IntOr("t0", window.t0));
  SL_ASSIGN_OR_RETURN(window.t1, ask.params.IntOr("t1", window.t1));
  const SliceMatches matches(ask, filter, lanes, window);
  RankDurations out(ask.view.ranks().size());
  std::vector<Status> ends(out.size());
  ask.open.dataset->pool().ParallelFor(out.size(), [&](size_t slot) {
    ends[slot] = matches.ForEach(slot, [&](const Lane& lane, uint32_t slice) {
      out[slot].push_back(lane.rows.columns().dur(slice));
    });
  });
  for (Status& end : ends) SL_RETURN_IF_ERROR(std::move(end));
  return out;
}

struct Bin {
  int64_t from = 0;
  int64_t to = 0;  // exclusive, but of the last bin
};

// Equal bins, or bins of equal ratio, from the least to the greatest duration.
std::vector<Bin> Divide(const std::vector<int64_t>& durations, size_t count, bool logarithmic) {
  if (durations.empty()) return {};
  const auto [least, most] = std::minmax_element(durations.begin(), durations.end());
  const double low = static_cast<double>(std::max<int64_t>(*least, logarithmic ? 1 : 0));
  const double high = static_cast<double>(std::max<int64_t>(*most, AddSaturating(*least, 1)));
  std::vector<Bin> bins;
  int64_t from = *least;
  for (size_t i = 1; i <= count && from <= *most; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count);
    const double edge = logarithmic ? low * std::pow(high / low, part) : low + (high - low) * part;
    const int64_t to = i == count ? AddSaturating(*most, 1) : std::llround(std::min(edge, 9.2e18));
    if (to <= from) continue;
    bins.push_back({from, to});
    from = to;
  }
  return bins;
}

// The bin of a duration; the number of bins if it lies in none.
size_t BinOf(const std::vector<Bin>& bins, int64_t dur_ns) {
  if (bins.empty() || dur_ns < bins.front().from) return bins.size();
  return static_cast<size_t>(
      std::upper_bound(bins.begin(), bins.end(), dur_ns,
                       [](int64_t value, const Bin& bin) { return value < bin.to; }) -
      bins.begin());
}

std::vector<int64_t> CountIn(const std::vector<Bin>& bins, const std::vector<int64_t>& durations) {
  std::vector<int64_t> counts(bins.size() + 1, 0);  // the last: in none
  for (const int64_t dur_ns : durations) ++counts[BinOf(bins, dur_ns)];
  return counts;
}

void WriteBins(JsonWriter& json, const Ask& ask, const std::vector<Bin>& bins,
               const RankDurations& durations, bool by_rank) {
  const std::vector<size_t> slots = ask.view.SlotsByRank();
  std::vector<std::vector<int64_t>> counts;  // by slot
  for (const auto& own : durations) counts.push_back(CountIn(bins, own));
  json.Key("bins").BeginArray();
  for (size_t b = 0; b < bins.size(); ++b) {
    int64_t total = 0;
    for (const auto& own : counts) total += own[b];
    json.BeginObject().Key("from").Int(bins[b].from).Key("to").Int(bins[b].to);
    json.Key("count").Int(total);
    if (by_rank) {
      json.Key("ranks").BeginArray();
      for (const size_t slot : slots) {
        if (counts[slot][b] == 0) continue;
        json.BeginArray().Int(ask.view.ranks()[slot]->rank).Int(counts[slot][b]).EndArray();
      }
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

Result<Response> PostHist(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const int64_t count, ask.params.IntIn("bins", 40, 1, 1000));
  SL_ASSIGN_OR_RETURN(const bool logarithmic, ask.params.BoolOr("log", true));
  SL_ASSIGN_OR_RETURN(const std::string by, ask.params.TextOr("by", ""));
  if (!by.empty() && by != "rank") return Error{ErrorCode::kInvalidArgument, "'by' must be rank"};
  SL_ASSIGN_OR_RETURN(const RankDurations by_slot, CollectDurations(ask));
  std::vector<int64_t> durations;
  for (const auto& own : by_slot) durations.insert(durations.end(), own.begin(), own.end());
  const std::vector<Bin> bins = Divide(durations, static_cast<size_t>(count), logarithmic);
  JsonWriter json;
  json.BeginObject();
  WriteBins(json, ask, bins, by_slot, by == "rank");
  if (ask.params.Has("i")) {
    SL_ASSIGN_OR_RETURN(const SliceRef ref, SliceParam(ask));
    const size_t at = BinOf(bins, ref.lane->rows.columns().dur(ref.slice));
    json.Key("at");
    at < bins.size() ? json.Int(static_cast<int64_t>(at)) : json.Null();
  }
  const Percentiles spread = PercentilesOf(durations);
  json.Key("count").Int(static_cast<int64_t>(durations.size()));
  json.Key("p50").Int(spread.p50).Key("p90").Int(spread.p90).Key("p99").Int(spread.p99);
  json.EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
