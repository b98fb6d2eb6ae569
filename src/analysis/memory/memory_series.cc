#include "analysis/memory/memory_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/any_case.h"
#include "analysis/memory/memory_kinds.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::TraceStore;

// Which of a sample's totals a series shows.
enum class Total : uint8_t { kAllocated, kActive, kReserved };

int64_t TotalOf(const store::MemorySampleTable& samples, size_t row, Total total) {
  switch (total) {
    case Total::kAllocated:
      return samples.allocated_bytes[row];
    case Total::kActive:
      return samples.active_bytes[row];
    case Total::kReserved:
      return samples.reserved_bytes[row];
  }
  return kNone;
}

bool IsCpu(std::string_view device) { return StartsInAnyCase(device, "cpu"); }

// Rows of the device: the host's only if nothing else has samples.
std::vector<uint32_t> DeviceRows(const TraceStore& store) {
  const store::MemorySampleTable& samples = store.memory_samples;
  std::vector<uint32_t> device;
  std::vector<uint32_t> host;
  for (uint32_t i = 0; i < samples.size(); ++i) {
    (IsCpu(store.Text(samples.device[i])) ? host : device).push_back(i);
  }
  std::vector<uint32_t>& rows = device.empty() ? host : device;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return samples.ts_ns[a] < samples.ts_ns[b]; });
  return rows;
}

// The component whose totals stand for the operators: PTA+GE; GE, MindSpore's or the GPU's own
// where there is no such sum.
std::string MainComponent(const TraceStore& store, const std::vector<uint32_t>& rows) {
  std::set<std::string_view> components;
  for (const uint32_t row : rows)
    components.insert(store.Text(store.memory_samples.component[row]));
  if (components.contains("PTA+GE")) return "PTA+GE";
  for (const std::string_view component : components) {
    if (component != "PTA" && component != "APP" && component != "WORKSPACE") {
      return std::string(component);
    }
  }
  return "PTA";
}

class Builder {
 public:
  Builder(const TraceStore& store, std::vector<uint32_t> rows)
      : store_(store), rows_(std::move(rows)) {}

  // The total of a component's rows. A sample that does not have it counts as 0 where others of the
  // main components do, as the reference draws it.
  void Add(std::string_view component, Total total, std::string name,
           std::optional<int64_t> stream = {}) {
    const store::MemorySampleTable& samples = store_.memory_samples;
    MemorySeries series{std::move(name), {}};
    for (const uint32_t row : rows_) {
      if (store_.Text(samples.component[row]) != component) continue;
      if (stream && samples.stream_ptr[row] != *stream) continue;
      const int64_t bytes = TotalOf(samples, row, total);
      series.points.push_back({samples.ts_ns[row], bytes == kNone ? 0 : bytes});
    }
    if (!series.points.empty()) out_.push_back(std::move(series));
  }
  bool HasStreams(std::string_view component) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](uint32_t row) {
      return store_.Text(store_.memory_samples.component[row]) == component &&
             store_.memory_samples.stream_ptr[row] != kNone;
    });
  }
  std::set<int64_t> Streams(std::string_view component) const {
    std::set<int64_t> streams;
    for (const uint32_t row : rows_) {
      if (store_.Text(store_.memory_samples.component[row]) != component) continue;
      if (store_.memory_samples.stream_ptr[row] != kNone) {
        streams.insert(store_.memory_samples.stream_ptr[row]);
      }
    }
    return streams;
  }
  std::vector<MemorySeries> Take() { return std::move(out_); }

 private:
  const TraceStore& store_;  // outlives this
  std::vector<uint32_t> rows_;
  std::vector<MemorySeries> out_;
};

bool HaveTotals(const TraceStore& store, const std::vector<uint32_t>& rows) {
  const store::MemorySampleTable& samples = store.memory_samples;
  return std::any_of(rows.begin(), rows.end(), [&](uint32_t row) {
    return samples.allocated_bytes[row] != kNone || samples.reserved_bytes[row] != kNone;
  });
}

// Allocated bytes over time, from what was allocated and released: of blocks that is_wanted(row).
template <typename IsWanted>
MemorySeries AddUpAllocations(const TraceStore& store, std::string name, IsWanted&& is_wanted) {
  const store::AllocationTable& blocks = store.allocations;
  const bool has_device = std::any_of(blocks.device.begin(), blocks.device.end(),
                                      [&](StringId device) { return !IsCpu(store.Text(device)); });
  std::vector<MemorySeries::Point> changes;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (has_device && IsCpu(store.Text(blocks.device[i]))) continue;
    if (!is_wanted(i)) continue;
    if (blocks.size_bytes[i] == kNone || blocks.alloc_ns[i] == kNone) continue;
    changes.push_back({blocks.alloc_ns[i], blocks.size_bytes[i]});
    if (blocks.release_ns[i] != kNone) {
      changes.push_back({blocks.release_ns[i], -blocks.size_bytes[i].value()});
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; });
  int64_t held = 0;
  for (MemorySeries::Point& point : changes) point.bytes = held = AddNs(held, point.bytes);
  return {std::move(name), std::move(changes)};
}

MemorySeries AddUpAllocations(const TraceStore& store) {
  return AddUpAllocations(store, "Operators Allocated", [](size_t) { return true; });
}

// What the totals have beyond the blocks that the capture saw being allocated.
MemorySeries HeldSinceBefore(const MemorySeries& total, const MemorySeries& known) {
  MemorySeries out{"Before the Capture", {}};
  size_t next = 0;
  for (const MemorySeries::Point& point : total.points) {
    while (next < known.points.size() && known.points[next].ts_ns <= point.ts_ns) ++next;
    const int64_t known_bytes = next == 0 ? 0 : known.points[next - 1].bytes;
    out.points.push_back({point.ts_ns, std::max<int64_t>(0, point.bytes - known_bytes)});
  }
  return out;
}

// `total`: the allocator's own count; null if it has none.
std::vector<MemorySeries> ByTensorKind(const TraceStore& store, const MemorySeries* total) {
  const std::vector<TensorKind> kinds = FindTensorKinds(store);
  std::vector<MemorySeries> out;
  if (kinds.empty()) return out;
  if (total != nullptr) out.push_back(HeldSinceBefore(*total, AddUpAllocations(store)));
  for (size_t kind = 0; kind < kTensorKindNames.size(); ++kind) {
    MemorySeries series =
        AddUpAllocations(store, std::string(kTensorKindNames[kind]),
                         [&](size_t i) { return static_cast<size_t>(kinds[i]) == kind; });
    if (!series.points.empty()) out.push_back(std::move(series));
  }
  return out;
}

}  // namespace

Result<MemoryGrouping> ParseMemoryGrouping(std::string_view name) {
  if (name == "Overall") return MemoryGrouping::kOverall;
  if (name == "Stream") return MemoryGrouping::kStream;
  if (name == "Component") return MemoryGrouping::kComponent;
  if (name == "Kind") return MemoryGrouping::kKind;
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("argument 'group_by' is '{}', expected Overall, Stream, Component or Kind",
                  name)};
}

std::vector<MemorySeries> CollectMemorySeries(const TraceStore& store, MemoryGrouping by,
                                              bool& is_derived) {
  const std::vector<uint32_t> rows = DeviceRows(store);
  is_derived = !HaveTotals(store, rows);
  if (is_derived) {
    if (by == MemoryGrouping::kKind) return ByTensorKind(store, nullptr);
    MemorySeries series = AddUpAllocations(store);
    if (series.points.empty() || by != MemoryGrouping::kOverall) return {};
    return {std::move(series)};
  }
  const std::string main = MainComponent(store, rows);
  Builder build(store, rows);
  if (by == MemoryGrouping::kOverall) {
    build.Add(main, Total::kAllocated, "Operators Allocated");
    if (build.HasStreams(main)) build.Add(main, Total::kActive, "Operators Activated");
    build.Add(main, Total::kReserved, "Operators Reserved");
    build.Add("APP", Total::kReserved, "App Reserved");
    build.Add("WORKSPACE", Total::kAllocated, "Workspace Allocated");
    build.Add("WORKSPACE", Total::kReserved, "Workspace Reserved");
  } else if (by == MemoryGrouping::kKind) {
    build.Add(main, Total::kAllocated, "");
    const std::vector<MemorySeries> total = build.Take();
    is_derived = true;
    return ByTensorKind(store, total.empty() ? nullptr : &total.front());
  } else if (by == MemoryGrouping::kStream) {
    for (const int64_t stream : build.Streams(main)) {
      build.Add(main, Total::kAllocated, fmt::format("Allocated of {}", stream), stream);
      build.Add(main, Total::kActive, fmt::format("Activated of {}", stream), stream);
      build.Add(main, Total::kReserved, fmt::format("Reserved of {}", stream), stream);
    }
  } else {
    for (const char* component : {"PTA", "GE"}) {
      build.Add(component, Total::kAllocated, fmt::format("{} Allocated", component));
      build.Add(component, Total::kActive, fmt::format("{} Activated", component));
      build.Add(component, Total::kReserved, fmt::format("{} Reserved", component));
    }
    build.Add("APP", Total::kReserved, "App Reserved");
  }
  return build.Take();
}

std::vector<MemorySeries::Point> ReducePoints(const std::vector<MemorySeries::Point>& points,
                                              int64_t width) {
  if (width <= 0 || points.size() / 3 <= static_cast<size_t>(width)) return points;
  const auto first_ns = static_cast<long double>(points.front().ts_ns);
  const auto span_ns = static_cast<long double>(points.back().ts_ns) - first_ns;
  const auto column_of = [&](size_t i) {
    if (span_ns <= 0) return int64_t{0};
    const long double share = (static_cast<long double>(points[i].ts_ns) - first_ns) / span_ns;
    return std::min(width - 1, static_cast<int64_t>(share * static_cast<long double>(width)));
  };
  std::vector<MemorySeries::Point> out;
  for (size_t begin = 0; begin < points.size();) {
    const int64_t column = column_of(begin);
    size_t low = begin;
    size_t high = begin;
    size_t end = begin;
    for (; end < points.size() && column_of(end) == column; ++end) {
      if (points[end].bytes < points[low].bytes) low = end;
      if (points[end].bytes > points[high].bytes) high = end;
    }
    std::set<size_t> kept{low, high, end - 1};
    for (const size_t i : kept) out.push_back(points[i]);
    begin = end;
  }
  return out;
}

int64_t MemoryOriginNs(const TraceStore& store) {
  int64_t origin_ns = kNone;
  for (const auto* times : {&store.memory_samples.ts_ns, &store.allocations.alloc_ns}) {
    if (origin_ns != kNone) break;
    for (const int64_t ts_ns : times->span()) {
      if (ts_ns != kNone && (origin_ns == kNone || ts_ns < origin_ns)) origin_ns = ts_ns;
    }
  }
  return origin_ns == kNone ? 0 : origin_ns;
}

}  // namespace steplens::analysis
