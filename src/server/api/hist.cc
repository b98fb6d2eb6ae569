#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server/api/handlers.h"
#include "server/percentiles.h"

namespace steplens::server {
namespace {

// The number of a name given as number or text; nothing if no slice has that name.
Result<std::optional<uint32_t>> NameParam(const Ask& ask) {
  const JsonValue value = ask.params.Raw("name");
  if (!value.exists()) return Error{ErrorCode::kInvalidArgument, "'name' is missing"};
  const NamePool& names = ask.view.names();
  if (!value.IsString()) {
    const auto id = value.AsInt();
    if (!id || *id < 0 || static_cast<size_t>(*id) >= names.size())
      return Error{ErrorCode::kInvalidArgument, "'name' is neither a text nor the id of one"};
    return std::optional(static_cast<uint32_t>(*id));
  }
  for (uint32_t id = 0; id < names.size(); ++id) {
    if (names.Text(id) == *value.AsString()) return std::optional(id);
  }
  return std::optional<uint32_t>();
}

std::vector<int64_t> DurationsOf(const std::vector<const Lane*>& lanes, uint32_t name) {
  std::vector<int64_t> out;
  for (const Lane* lane : lanes) {
    const SliceColumns& columns = lane->rows.columns();
    for (size_t r = 0; r < lane->rows.rows(); ++r) {
      for (const uint32_t slice : lane->rows.row(r)) {
        if (columns.name_of(slice) == name) out.push_back(columns.dur_ns[slice]);
      }
    }
  }
  return out;
}

struct Bin {
  int64_t from = 0;
  int64_t to = 0;  // exclusive, but of the last bin
  int64_t count = 0;
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
    bins.push_back({from, to, 0});
    from = to;
  }
  for (const int64_t dur_ns : durations) {
    const auto at = std::upper_bound(bins.begin(), bins.end(), dur_ns,
                                     [](int64_t value, const Bin& bin) { return value < bin.to; });
    if (at != bins.end()) ++at->count;
  }
  return bins;
}

}  // namespace

Result<Response> PostHist(const Ask& ask) {
  SL_ASSIGN_OR_RETURN(const std::optional<uint32_t> name, NameParam(ask));
  SL_ASSIGN_OR_RETURN(const std::vector<const Lane*> lanes, SliceLanesParam(ask, "tracks", true));
  SL_ASSIGN_OR_RETURN(const int64_t count, ask.params.IntIn("bins", 40, 1, 1000));
  SL_ASSIGN_OR_RETURN(const bool logarithmic, ask.params.BoolOr("log", true));
  std::vector<int64_t> durations;
  if (name) durations = DurationsOf(lanes, *name);
  JsonWriter json;
  json.BeginObject().Key("bins").BeginArray();
  for (const Bin& bin : Divide(durations, static_cast<size_t>(count), logarithmic)) {
    json.BeginObject().Key("from").Int(bin.from).Key("to").Int(bin.to);
    json.Key("count").Int(bin.count).EndObject();
  }
  json.EndArray().Key("count").Int(static_cast<int64_t>(durations.size()));
  json.Key("p50").Int(Percentile(durations, 50)).Key("p90").Int(Percentile(durations, 90));
  json.Key("p99").Int(Percentile(durations, 99)).EndObject();
  return JsonResponse(std::move(json));
}

}  // namespace steplens::server
