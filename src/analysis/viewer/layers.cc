#include <fmt/format.h>

#include <array>
#include <functional>

#include "analysis/cells.h"
#include "analysis/classify/classify.h"
#include "analysis/classify/text_memo.h"
#include "analysis/overlap/overlap_lanes.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"
#include "analysis/viewer/slice_stats.h"

// System View > Stats: the names of one layer of the timeline with their times.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

enum class Layer : uint8_t { kHost, kApi, kDevice, kCommunication, kOverlap };

Result<Layer> ParseLayer(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Layer>, 8> kNames{{
      {"Python API", Layer::kHost},
      {"CANN API", Layer::kApi},
      {"CUDA API", Layer::kApi},
      {"Ascend Hardware Task", Layer::kDevice},
      {"Ascend Hardware", Layer::kDevice},
      {"GPU Task", Layer::kDevice},
      {"Communication", Layer::kCommunication},
      {"Overlap Analysis", Layer::kOverlap},
  }};
  for (const auto& [text, layer] : kNames) {
    if (text == name) return layer;
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("argument 'layer' is '{}', expected Python API, CANN API, Ascend "
                           "Hardware Task, Communication or Overlap Analysis",
                           name)};
}

// Whether a slice row is part of the layer. The store must outlive the function.
std::function<bool(size_t)> MembersOf(Layer layer, const TraceStore& store) {
  std::vector<TrackKind> tracks = ClassifyTracks(store);
  const bool is_gpu = DetectPlatform(store, tracks) != Platform::kAscend;
  const auto kind_of = [&store, tracks = std::move(tracks)](size_t row) {
    const auto t = static_cast<size_t>(store.slices.track[row]);
    return t < tracks.size() ? tracks[t] : TrackKind::kOther;
  };
  if (!is_gpu) {
    switch (layer) {
      case Layer::kHost:
        return [=](size_t row) { return kind_of(row) == TrackKind::kHost; };
      case Layer::kApi:
        return [=](size_t row) { return kind_of(row) == TrackKind::kCann; };
      case Layer::kDevice:
        return [=](size_t row) { return kind_of(row) == TrackKind::kDevice; };
      default:
        return [=](size_t row) {
          const TrackKind kind = kind_of(row);
          return kind == TrackKind::kCommGroup || kind == TrackKind::kCommPlane;
        };
    }
  }
  const SliceKinds kinds(store);
  const auto slice_kind = [&store, kinds](size_t row) { return kinds[store.slices.category[row]]; };
  switch (layer) {
    case Layer::kHost:
      return [=](size_t row) {
        const SliceKind kind = slice_kind(row);
        return kind == SliceKind::kHostOp || kind == SliceKind::kPython ||
               (kind == SliceKind::kAnnotation && kind_of(row) != TrackKind::kDevice);
      };
    case Layer::kApi:
      return [=](size_t row) { return IsGpuApi(slice_kind(row)); };
    case Layer::kDevice:
      return [=](size_t row) { return IsGpuWork(slice_kind(row)); };
    default:
      return [=, &store, is_nccl = TextMemo(store, IsCommunicationKernel)](size_t row) mutable {
        return slice_kind(row) == SliceKind::kKernel && is_nccl(store.slices.name[row]);
      };
  }
}

struct NameStats {
  std::string name;
  DurationStats stats;
};

std::vector<NameStats> SliceStats(Layer layer, const TraceStore& store, const TimeRange& range) {
  StatsByText stats(store);
  const std::function<bool(size_t)> is_member = MembersOf(layer, store);
  const auto begin_ns = store.slices.begin_ns.span();
  const auto dur_ns = store.slices.dur_ns.span();
  for (size_t i = 0; i < begin_ns.size(); ++i) {
    if (!is_member(i) || !range.Touches(begin_ns[i], EndNs(begin_ns[i], dur_ns[i]))) continue;
    stats.Add(store.slices.name[i], dur_ns[i]);
  }
  std::vector<NameStats> out;
  for (const auto& group : stats.Sorted()) {
    out.push_back({std::string(store.Text(group.text)), group.stats});
  }
  return out;
}

std::vector<NameStats> OverlapStats(const TraceStore& store, const TimeRange& range) {
  std::vector<NameStats> all{{"Communication", {}},
                             {"Communication(Not Overlapped)", {}},
                             {"Free", {}},
                             {"Computing", {}},
                             {"Memory Copy(Not Overlapped)", {}}};
  for (const OverlapLanes& lanes : ComputeOverlapLanes(store)) {
    const std::array lists{&lanes.communication, &lanes.not_overlapped, &lanes.free,
                           &lanes.computing, &lanes.memory};
    for (size_t i = 0; i < lists.size(); ++i) {
      for (const Interval& in : *lists[i]) {
        if (range.Touches(in.begin_ns, in.end_ns)) all[i].stats.Add(in.end_ns - in.begin_ns);
      }
    }
  }
  std::erase_if(all, [](const NameStats& row) { return row.stats.count == 0; });
  std::stable_sort(all.begin(), all.end(), [](const NameStats& a, const NameStats& b) {
    return a.stats.total_ns > b.stats.total_ns;
  });
  return all;
}

}  // namespace

Result<MetricAnswer> LayerSummary(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const std::string name, call.args.TextOr("layer", "Python API"));
  SL_ASSIGN_OR_RETURN(const Layer layer, ParseLayer(name));
  SL_ASSIGN_OR_RETURN(const std::string filter, call.args.TextOr("name", ""));
  std::vector<NameStats> stats =
      layer == Layer::kOverlap ? OverlapStats(*store, range) : SliceStats(layer, *store, range);
  std::string lower = filter;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::erase_if(stats, [&](const NameStats& row) { return !ContainsInAnyCase(row.name, lower); });
  double all_us = 0;
  for (const NameStats& row : stats) {
    // The whole of Overlap Analysis: Communication is in the other lanes already.
    if (row.name != "Communication") all_us += NsToUs(row.stats.total_ns);
  }
  TableRows rows("layer_summary",
                 {TextColumn("Name"), NumberColumn("Time(%)", 2), TimeColumn("Total Time(us)"),
                  IntColumn("Num Calls"), NumberColumn("Avg(us)", 4), TimeColumn("Min(us)"),
                  TimeColumn("Max(us)")});
  for (const auto& [text, s] : stats) {
    const double total_us = NsToUs(s.total_ns);
    rows.Add(text, RoundTo(100 * Share(total_us, all_us), 2), s.total_ns, s.count,
             RoundTo(total_us / static_cast<double>(s.count), 4), s.min_ns, s.max_ns);
  }
  MetricAnswer answer;
  answer.definition = "insight.layer_summary";
  answer.query = fmt::format(
      "SELECT name, count(*), sum(dur_ns) FROM slices WHERE rank = {} GROUP BY name ORDER BY 3 "
      "DESC",
      store->info.rank);
  if (stats.empty()) answer.warnings.push_back(Message{"warning.empty_layer"});
  answer.tables.push_back(rows.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
