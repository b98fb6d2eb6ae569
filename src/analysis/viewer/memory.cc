#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/cells.h"
#include "analysis/memory/allocation_names.h"
#include "analysis/memory/memory_series.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

// The Memory page: the curve, the allocations, the components.

namespace steplens::analysis::viewer {
namespace {

using store::kNone;
using store::TraceStore;

double ToMs(int64_t ts_ns, int64_t origin_ns) {
  return ts_ns == kNone ? kNoNumber : RoundTo(NsToMs(AddNs(ts_ns, -origin_ns)), 3);
}
int64_t Since(int64_t ts_ns, int64_t origin_ns) {
  return ts_ns == kNone ? kNone : AddNs(ts_ns, -origin_ns);
}
double Mb(int64_t bytes) { return bytes == kNone ? kNoNumber : RoundTo(BytesToMb(bytes), 2); }
// The peaks in the title are cut off, not rounded.
double TruncatedMb(int64_t bytes) { return std::trunc(BytesToMb(bytes) * 100) / 100; }

// Points in the range and the one before it, so that the line starts at the left edge.
std::vector<MemorySeries::Point> InRange(const std::vector<MemorySeries::Point>& points,
                                         const TimeRange& range) {
  std::vector<MemorySeries::Point> out;
  for (size_t i = 0; i < points.size(); ++i) {
    const bool is_edge = points[i].ts_ns < range.begin_ns && i + 1 < points.size() &&
                         points[i + 1].ts_ns >= range.begin_ns;
    if (is_edge || range.Holds(points[i].ts_ns, points[i].ts_ns)) out.push_back(points[i]);
  }
  return out;
}

// Whether a block was held at a time. One without a release is held to the end.
bool IsLive(const store::AllocationTable& blocks, size_t i, int64_t ts_ns) {
  return blocks.alloc_ns[i] != kNone && blocks.alloc_ns[i] <= ts_ns &&
         (blocks.release_ns[i] == kNone || blocks.release_ns[i] > ts_ns);
}

std::string RankQuery(std::string_view table, const TraceStore& store) {
  return fmt::format("SELECT * FROM {} WHERE rank = {}", table, store.info.rank);
}

}  // namespace

Result<MetricAnswer> MemoryCurve(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t width, call.args.IntOr("width", 0));
  SL_ASSIGN_OR_RETURN(const std::string by, call.args.TextOr("group_by", "Overall"));
  SL_ASSIGN_OR_RETURN(const MemoryGrouping grouping, ParseMemoryGrouping(by));
  const int64_t page_origin_ns = MemoryOriginNs(*store);
  TableRows points("points", {TextColumn("series"), NumberColumn("time_ms", 3),
                              NumberColumn("value_mb", 2), IntColumn("t_ns")});
  TableRows peaks("peaks",
                  {TextColumn("series"), NumberColumn("peak_mb", 2), NumberColumn("time_ms", 3),
                   IntColumn("t_ns"), IntColumn("points"), NumberColumn("title_mb", 2)});
  bool is_derived = false;
  const std::vector<MemorySeries> all = CollectMemorySeries(*store, grouping, is_derived);
  for (const MemorySeries& series : all) {
    const auto inside = range.is_all() ? series.points : InRange(series.points, range);
    for (const MemorySeries::Point& point : ReducePoints(inside, width)) {
      points.Add(series.name, ToMs(point.ts_ns, page_origin_ns), Mb(point.bytes),
                 Since(point.ts_ns, origin_ns));
    }
    const auto peak =
        std::max_element(series.points.begin(), series.points.end(),
                         [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    peaks.Add(series.name, Mb(peak->bytes), ToMs(peak->ts_ns, page_origin_ns),
              Since(peak->ts_ns, origin_ns), series.points.size(), TruncatedMb(peak->bytes));
  }
  MetricAnswer answer;
  answer.definition = "insight.memory_curve";
  answer.query = RankQuery(is_derived ? "allocations" : "memory_samples", *store);
  answer.tables.push_back(points.Take());
  answer.tables.push_back(peaks.Take());
  if (is_derived && !all.empty() && grouping != MemoryGrouping::kKind) {
    answer.warnings.push_back(Message{"warning.no_memory_totals"});
  }
  if (all.empty() && grouping == MemoryGrouping::kKind) {
    answer.warnings.push_back(Message{"warning.no_tensor_kinds"});
  } else if (all.empty()) {
    answer.warnings.push_back(Message{"warning.no_memory_samples"});
  }
  return answer;
}

Result<MetricAnswer> MemoryOperators(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> live_at, call.args.Int("live_at"));
  const int64_t page_origin_ns = MemoryOriginNs(*store);
  TableRows rows(
      "memory_operators",
      {TextColumn("Name"), NumberColumn("Size(KB)", 2), NumberColumn("Allocation Time(ms)", 3),
       NumberColumn("Release Time(ms)", 3), NumberColumn("Duration(ms)", 6),
       NumberColumn("Active Release Time(ms)", 3), NumberColumn("Active Duration(ms)", 6),
       NumberColumn("Allocation Total Allocated(MB)", 2),
       NumberColumn("Allocation Total Reserved(MB)", 2),
       NumberColumn("Allocation Total Active(MB)", 2),
       NumberColumn("Release Total Allocated(MB)", 2),
       NumberColumn("Release Total Reserved(MB)", 2), NumberColumn("Release Total Active(MB)", 2),
       IntColumn("Stream"), TextColumn("Device"), IntColumn("alloc_ns"), IntColumn("release_ns")});
  const store::AllocationTable& blocks = store->allocations;
  const std::vector<std::string_view> names = AllocationNames(*store);
  const auto in_range = [&](int64_t ts_ns) { return ts_ns != kNone && range.Holds(ts_ns, ts_ns); };
  const auto ms = [](int64_t ns) { return ns == kNone ? kNoNumber : NsToMs(ns); };
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!range.is_all() && !in_range(blocks.alloc_ns[i]) && !in_range(blocks.release_ns[i]))
      continue;
    if (live_at && !IsLive(blocks, i, AddNs(*live_at, origin_ns))) continue;
    const int64_t size_bytes = blocks.size_bytes[i];
    rows.Add(names[i],
             size_bytes == kNone ? kNoNumber : RoundTo(static_cast<double>(size_bytes) / 1024, 2),
             ToMs(blocks.alloc_ns[i], page_origin_ns), ToMs(blocks.release_ns[i], page_origin_ns),
             ms(blocks.dur_ns[i]), ToMs(blocks.active_release_ns[i], page_origin_ns),
             ms(blocks.active_dur_ns[i]), Mb(blocks.alloc_total_allocated_bytes[i]),
             Mb(blocks.alloc_total_reserved_bytes[i]), Mb(blocks.alloc_total_active_bytes[i]),
             Mb(blocks.release_total_allocated_bytes[i]),
             Mb(blocks.release_total_reserved_bytes[i]), Mb(blocks.release_total_active_bytes[i]),
             blocks.stream_ptr[i], store->Text(blocks.device[i]),
             Since(blocks.alloc_ns[i], origin_ns), Since(blocks.release_ns[i], origin_ns));
  }
  MetricAnswer answer;
  answer.definition = "insight.memory_operators";
  answer.query = RankQuery("allocations", *store);
  if (blocks.size() == 0) {
    answer.warnings.push_back(Message{"warning.no_allocations"});
  }
  answer.tables.push_back(rows.Take());
  return answer;
}

Result<MetricAnswer> MemoryComponents(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  SL_ASSIGN_OR_RETURN(const double least_mb, call.args.DoubleOr("min_mb", 100));
  const store::ModuleMemoryTable& samples = store->module_memory;
  std::map<std::string_view, size_t> peaks;  // component -> row of its earliest peak
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples.reserved_bytes[i] == kNone || samples.ts_ns[i] == kNone) continue;
    const auto [place, is_new] = peaks.try_emplace(store->Text(samples.component[i]), i);
    const size_t best = place->second;
    const bool is_higher = samples.reserved_bytes[i] > samples.reserved_bytes[best];
    const bool is_earlier = samples.reserved_bytes[i] == samples.reserved_bytes[best] &&
                            samples.ts_ns[i] < samples.ts_ns[best];
    if (is_higher || is_earlier) place->second = i;
  }
  TableRows rows("memory_components",
                 {TextColumn("Component"), NumberColumn("Peak Memory Reserved(MB)", 2),
                  NumberColumn("Timestamp(ms)", 3), TextColumn("Device"), IntColumn("t_ns")});
  for (const auto& [component, row] : peaks) {
    if (BytesToMb(samples.reserved_bytes[row].value()) < least_mb) continue;
    rows.Add(component, Mb(samples.reserved_bytes[row]),
             ToMs(samples.ts_ns[row], MemoryOriginNs(*store)), store->Text(samples.device[row]),
             Since(samples.ts_ns[row], origin_ns));
  }
  MetricAnswer answer;
  answer.definition = "insight.memory_components";
  answer.query = RankQuery("module_memory", *store);
  if (samples.size() == 0) {
    answer.warnings.push_back(Message{"warning.no_component_memory"});
  }
  answer.tables.push_back(rows.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
