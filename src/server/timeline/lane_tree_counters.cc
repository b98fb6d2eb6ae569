#include <fmt/format.h>

#include <map>

#include "server/timeline/lane_tree.h"

namespace steplens::server {

using store::TrackId;

namespace {

// "Read(MB/s)" -> "MB/s"; nothing for a label that only repeats the name or numbers the series.
std::string_view UnitOf(std::string_view label, std::string_view name) {
  const size_t open = label.rfind('(');
  if (open != std::string_view::npos && label.ends_with(')'))
    return label.substr(open + 1, label.size() - open - 2);
  if (label == name || label.find_first_not_of("0123456789") == std::string_view::npos) return {};
  return label;
}

}  // namespace

// Counter processes below CPU metrics and NPU metrics.
void TreeBuilder::AddCounters() {
  std::vector<std::vector<uint32_t>> samples(TrackCount());
  const auto tracks = store_.counters.track.span();
  for (size_t i = 0; i < tracks.size(); ++i) {
    if (static_cast<size_t>(tracks[i]) < TrackCount())
      samples[static_cast<size_t>(tracks[i])].push_back(static_cast<uint32_t>(i));
  }
  std::map<size_t, std::vector<size_t>> by_process;
  for (size_t t = 0; t < TrackCount(); ++t) {
    if (!samples[t].empty()) by_process[ParentOf(t)].push_back(t);
  }
  if (by_process.empty()) return;
  const uint32_t top = Add(LaneKind::kGroup, 1, "Counters", Root() + "/counters").id;
  for (const bool is_host : {true, false}) {
    uint32_t half = 0;
    for (auto& [process, series] : by_process) {
      if (IsHostCounter(process) != is_host) continue;
      if (half == 0) {
        half = Add(LaneKind::kGroup, top, is_host ? "CPU metrics" : "NPU metrics",
                   Root() + (is_host ? "/counters/cpu" : "/counters/npu"))
                   .id;
      }
      AddCounterProcess(process, series, half, samples);
    }
  }
}

bool TreeBuilder::IsHostCounter(size_t process) const {
  if (process >= TrackCount()) return false;
  const std::string_view label = Text(store_.tracks.label[process]);
  if (label.starts_with("CPU") || label.starts_with("cpu") || label.starts_with("host"))
    return true;
  if (!label.empty()) return false;
  const std::string_view name = Text(store_.tracks.name[process]);
  return name.find("CPU") != std::string_view::npos ||
         name.find("Disk") != std::string_view::npos ||
         name.find("Network") != std::string_view::npos ||
         name.find("Host") != std::string_view::npos;
}

void TreeBuilder::AddCounterProcess(size_t process, const std::vector<size_t>& series,
                                    uint32_t half, std::vector<std::vector<uint32_t>>& samples) {
  uint32_t parent = half;
  std::string path = out_.lanes_[half - 1]->path;
  const std::string name =
      process < TrackCount() ? std::string(Text(store_.tracks.name[process])) : "";
  if (series.size() > 1 && !name.empty()) {
    const Lane& group = Add(LaneKind::kGroup, half, name, path + "/" + Slug(name));
    parent = group.id;
    path = group.path;
  }
  for (const size_t t : series) {
    const std::string_view text = Text(store_.tracks.name[t]);
    const std::string_view unit = UnitOf(Text(store_.tracks.label[t]), text);
    Lane& lane = Add(LaneKind::kCounter, parent,
                     unit.empty() ? std::string(text) : fmt::format("{} [{}]", text, unit),
                     path + "/" + Slug(text));
    lane.flags = kCounterLane;
    lane.track = TrackId{static_cast<uint32_t>(t)};
    lane.counter = CounterLane({store_.counters.ts_ns.span(), store_.counters.value.span(), {}, 1},
                               std::move(samples[t]));
    lane.count = lane.counter.size();
  }
}

// The allocator's totals, one lane a component, device and quantity.
void TreeBuilder::AddMemory() {
  const auto& samples = store_.memory_samples;
  std::map<std::pair<std::string, std::string>, std::vector<uint32_t>> series;
  for (size_t i = 0; i < samples.size(); ++i) {
    series[{std::string(Text(samples.device[i])), std::string(Text(samples.component[i]))}]
        .push_back(static_cast<uint32_t>(i));
  }
  if (series.empty()) return;
  const Lane& group = Add(LaneKind::kGroup, 1, "Memory", Root() + "/memory");
  const uint32_t id = group.id;
  const std::string path = group.path;
  struct Quantity {
    std::string_view name;
    std::span<const int64_t> bytes;
  };
  for (const auto& [key, rows] : series) {
    for (const Quantity& quantity : {Quantity{"allocated", samples.allocated_bytes.span()},
                                     Quantity{"reserved", samples.reserved_bytes.span()},
                                     Quantity{"active", samples.active_bytes.span()}}) {
      std::vector<uint32_t> known;
      for (const uint32_t row : rows) {
        if (quantity.bytes[row] != store::kNone) known.push_back(row);
      }
      if (known.empty()) continue;
      const std::string name = fmt::format("{}{}{} {} [MB]", key.first,
                                           key.first.empty() ? "" : " ", key.second, quantity.name);
      Lane& lane =
          Add(LaneKind::kCounter, id, name,
              fmt::format("{}/{}-{}-{}", path, Slug(key.first), Slug(key.second), quantity.name));
      lane.flags = kCounterLane | kMemoryLane;
      lane.counter = CounterLane({samples.ts_ns.span(), {}, quantity.bytes, 1.0 / (1 << 20)},
                                 std::move(known));
      lane.count = lane.counter.size();
    }
  }
}

}  // namespace steplens::server
