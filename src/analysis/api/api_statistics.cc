#include "analysis/api/api_statistics.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/classify/classify.h"
#include "analysis/duration_stats.h"
#include "analysis/steps/steps.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;
using table::CellType;

// What a row is about.
struct Api {
  int64_t rank = 0;  // 0 for all rows unless per rank
  std::string level;
  std::string name;
  auto operator<=>(const Api&) const = default;
};

struct NameHash {
  size_t operator()(StringId id) const { return static_cast<uint32_t>(id) * size_t{0x9E3779B9}; }
};

// Whether a host time lies in a selected step.
class HostSteps {
 public:
  HostSteps(const TraceStore& store, const Selection& selection) : all_(!selection.step) {
    if (all_) return;
    for (const StepRange& step : ComputeStepRanges(store)) {
      if (selection.HasStep(step.step)) steps_.push_back(step);
    }
  }
  bool Contains(int64_t ts_ns) const {
    return all_ || std::any_of(steps_.begin(), steps_.end(), [&](const StepRange& step) {
             return step.host_begin_ns <= ts_ns && ts_ns <= step.host_end_ns;
           });
  }

 private:
  bool all_;
  std::vector<StepRange> steps_;
};

// Calls of one rank, by name. Levels are told apart afterwards, once per distinct name.
struct Calls {
  using ByName = tsl::robin_map<StringId, DurationStats, NameHash>;
  ByName cann;
  ByName runtime;
  ByName driver;
};

Calls CollectCalls(const TraceStore& store, const HostSteps& steps) {
  Calls calls;
  const SliceKinds kinds(store);
  const std::vector<TrackKind> tracks = ClassifyTracks(store);
  const store::SliceTable& slices = store.slices;
  const auto& track = slices.track;
  const auto& category = slices.category;
  for (size_t i = 0, rows = track.size(); i < rows; ++i) {
    const auto t = static_cast<size_t>(track[i]);
    const SliceKind kind = kinds[category[i]];
    Calls::ByName* by_name = nullptr;
    if (kind == SliceKind::kRuntime) by_name = &calls.runtime;
    if (kind == SliceKind::kDriver) by_name = &calls.driver;
    if (t < tracks.size() && tracks[t] == TrackKind::kCann) by_name = &calls.cann;
    if (by_name == nullptr || !steps.Contains(slices.begin_ns[i])) continue;
    (*by_name)[slices.name[i]].Add(slices.dur_ns[i]);
  }
  return calls;
}

using Apis = std::map<Api, DurationStats>;

// A row of api_statistic.csv.
DurationStats DeliveredStats(const store::ApiStatisticTable& rows, size_t i) {
  constexpr double kAbsurdUs = 1e15;
  const auto ns = [](double us) { return std::fabs(us) < kAbsurdUs ? std::llround(us * 1000) : 0; };
  const auto count = static_cast<long double>(rows.count[i].value());  // above 0
  const long double mean_us = static_cast<long double>(ns(rows.total_us[i])) / 1000 / count;
  const double variance = std::isfinite(rows.variance[i]) ? rows.variance[i] : 0;
  return {rows.count[i], ns(rows.total_us[i]), ns(rows.min_us[i]), ns(rows.max_us[i]),
          (variance + mean_us * mean_us) * count};
}

void AddRank(const TraceStore& store, const ApiStatisticsOptions& options, Apis& apis) {
  const int64_t rank = options.per_rank ? store.info.rank : 0;
  const auto add = [&](std::string_view level, std::string_view name, const DurationStats& stats) {
    apis[{rank, std::string(level), std::string(name)}].Add(stats);
  };
  const store::ApiStatisticTable& delivered = store.api_statistics;
  if (store.slices.size() == 0 && !options.selection.step) {
    for (size_t i = 0; i < delivered.size(); ++i) {
      if (delivered.count[i] > 0)
        add(store.Text(delivered.level[i]), store.Text(delivered.name[i]),
            DeliveredStats(delivered, i));
    }
    return;
  }
  const Calls calls = CollectCalls(store, HostSteps(store, options.selection));
  for (const auto& [name, stats] : calls.cann) {
    if (const auto api = ParseCannApi(store.Text(name))) add(api->level, api->name, stats);
  }
  for (const auto& [name, stats] : calls.runtime) add("runtime", store.Text(name), stats);
  for (const auto& [name, stats] : calls.driver) add("driver", store.Text(name), stats);
}

}  // namespace

table::Table ApiStatistics(const store::Job& job, const ApiStatisticsOptions& options) {
  return ApiStatistics(job.ranks, options);
}

table::Table ApiStatistics(std::span<const TraceStore> ranks, const ApiStatisticsOptions& options) {
  Apis apis;
  for (const TraceStore& store : ranks) {
    if (options.selection.HasRank(store.info.rank)) AddRank(store, options, apis);
  }
  std::vector<std::pair<Api, DurationStats>> rows(apis.begin(), apis.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    if (a.first.rank != b.first.rank) return a.first.rank < b.first.rank;
    return a.second.total_ns > b.second.total_ns;
  });

  table::Table out("api_stats");
  if (options.per_rank) out.AddColumn("Rank", CellType::kInt);
  const size_t level = out.AddColumn("Level", CellType::kText);
  const size_t name = out.AddColumn("API Name", CellType::kText);
  const size_t total = out.AddColumn("Time(us)", CellType::kTimeUs);
  const size_t count = out.AddColumn("Count", CellType::kInt);
  const size_t avg = out.AddColumn("Avg(us)", CellType::kTimeUs);
  const size_t min = out.AddColumn("Min(us)", CellType::kTimeUs);
  const size_t max = out.AddColumn("Max(us)", CellType::kTimeUs);
  const size_t variance = out.AddColumn("Variance", CellType::kDouble);
  for (const auto& [api, stats] : rows) {
    if (options.per_rank) out.AppendInt(0, api.rank);
    out.AppendText(level, api.level);
    out.AppendText(name, api.name);
    out.AppendInt(total, stats.total_ns);
    out.AppendInt(count, stats.count);
    out.AppendInt(avg, stats.avg_ns());
    out.AppendInt(min, stats.min_ns);
    out.AppendInt(max, stats.max_ns);
    out.AppendDouble(variance, stats.variance_us2());
  }
  return out;
}

}  // namespace steplens::analysis
