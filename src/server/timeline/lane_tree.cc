#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "analysis/classify/classify.h"
#include "analysis/classify/device_work.h"
#include "analysis/overlap/sweep.h"
#include "server/timeline/rank_timeline.h"

namespace steplens::server {

using analysis::Interval;
using analysis::TrackKind;
using store::TraceStore;
using store::TrackId;

namespace {

// A name as part of a path: "Stream 2" -> "stream2", "Communication(Not Overlapped)" ->
// "communication-notoverlapped".
std::string Slug(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || byte >= 0x80) {
      out += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
    } else if (c != ' ' && !out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "x" : out;
}

uint32_t FlagsOf(TrackKind kind) {
  switch (kind) {
    case TrackKind::kHost:
      return kHostLane;
    case TrackKind::kCann:
      return kCannLane | kHostLane;
    case TrackKind::kDevice:
      return kDeviceLane;
    case TrackKind::kCommGroup:
      return kCommGroupLane | kDeviceLane;
    case TrackKind::kCommPlane:
      return kCommPlaneLane | kDeviceLane;
    case TrackKind::kOverlap:
      return kOverlapLane;
    case TrackKind::kOther:
      return 0;
  }
  return 0;
}

// "Read(MB/s)" -> "MB/s"; nothing for a label that only repeats the name or numbers the series.
std::string_view UnitOf(std::string_view label, std::string_view name) {
  const size_t open = label.rfind('(');
  if (open != std::string_view::npos && label.ends_with(')'))
    return label.substr(open + 1, label.size() - open - 2);
  if (label == name || label.find_first_not_of("0123456789") == std::string_view::npos) return {};
  return label;
}

// Digits of a label like "NPU 0".
int64_t DeviceOf(std::string_view label, int64_t otherwise) {
  const size_t at = label.find_first_of("0123456789");
  if (at == std::string_view::npos) return otherwise == store::kNone ? 0 : otherwise;
  int64_t device = 0;
  for (size_t i = at;
       i < label.size() && std::isdigit(static_cast<unsigned char>(label[i])) && device < 100'000;
       ++i)
    device = device * 10 + (label[i] - '0');
  return device;
}

}  // namespace

class TreeBuilder {
 public:
  TreeBuilder(const TraceStore& store, ThreadPool& pool, RankTimeline& out)
      : store_(store), pool_(pool), out_(out), kinds_(analysis::ClassifyTracks(store)) {
    columns_ = {store.slices.begin_ns.span(), store.slices.dur_ns.span(), store.slices.name.span(),
                out.name_ids_};
  }

  void Build() {
    SortSlices();
    Add(LaneKind::kRank, 0, std::to_string(store_.info.rank), fmt::format("r{}", store_.info.rank));
    for (const size_t process : Processes()) AddProcess(process);
    if (!has_overlap_) AddDerivedOverlap();
    AddCounters();
    AddMemory();
    pool_.ParallelFor(out_.lanes_.size(), [&](size_t i) { BuildRows(i); });
    Summarize();
  }

 private:
  size_t TrackCount() const { return store_.tracks.size(); }
  std::string_view Text(StringId id) const { return store_.Text(id); }
  size_t ParentOf(size_t track) const { return static_cast<size_t>(store_.tracks.parent[track]); }
  bool IsProcess(size_t track) const { return Text(store_.tracks.kind[track]) == "process"; }
  bool IsCounter(size_t track) const { return Text(store_.tracks.kind[track]) == "counter"; }

  // Slice numbers by track, Python functions apart.
  void SortSlices() {
    slices_.resize(TrackCount());
    stacks_.resize(TrackCount());
    const auto tracks = store_.slices.track.span();
    const auto categories = store_.slices.category.span();
    std::vector<size_t> count(2 * TrackCount(), 0);
    const auto key = [&](size_t i) {
      return 2 * static_cast<size_t>(tracks[i]) + (out_.IsPython(categories[i]) ? 1 : 0);
    };
    for (size_t i = 0; i < tracks.size(); ++i) {
      if (static_cast<size_t>(tracks[i]) < TrackCount()) ++count[key(i)];
    }
    for (size_t t = 0; t < TrackCount(); ++t) {
      slices_[t].reserve(count[2 * t]);
      stacks_[t].reserve(count[2 * t + 1]);
    }
    for (size_t i = 0; i < tracks.size(); ++i) {
      const auto t = static_cast<size_t>(tracks[i]);
      if (t < TrackCount())
        (out_.IsPython(categories[i]) ? stacks_ : slices_)[t].push_back(static_cast<uint32_t>(i));
    }
    out_.lane_of_track_.assign(TrackCount(), nullptr);
    out_.stack_of_track_.assign(TrackCount(), nullptr);
    content_.clear();
  }

  Lane& Add(LaneKind kind, uint32_t parent, std::string name, std::string path) {
    std::string unique = path;
    for (int n = 2; !paths_.insert(unique).second; ++n) unique = fmt::format("{}~{}", path, n);
    auto lane = std::make_unique<Lane>();
    lane->id = static_cast<uint32_t>(out_.lanes_.size() + 1);
    lane->parent = parent;
    lane->kind = kind;
    lane->name = std::move(name);
    lane->path = std::move(unique);
    lane->device = store_.info.device == store::kNone ? 0 : store_.info.device;
    out_.lanes_.push_back(std::move(lane));
    content_.emplace_back();
    return *out_.lanes_.back();
  }

  // Root of the lane paths of this rank.
  const std::string& Root() const { return out_.lanes_.front()->path; }

  // By sort index, then name. A track without parent that has slices stands for itself.
  std::vector<size_t> Processes() {
    children_.resize(TrackCount());
    std::vector<size_t> out;
    for (size_t t = 0; t < TrackCount(); ++t) {
      if (IsCounter(t)) continue;
      if (ParentOf(t) < TrackCount() && ParentOf(t) != t) {
        children_[ParentOf(t)].push_back(t);
      } else {
        out.push_back(t);
      }
    }
    Order(out);
    return out;
  }

  void Order(std::vector<size_t>& tracks) const {
    std::stable_sort(tracks.begin(), tracks.end(), [&](size_t a, size_t b) {
      const int64_t index_a = SortIndex(a);
      const int64_t index_b = SortIndex(b);
      if (index_a != index_b) return index_a < index_b;
      return Text(store_.tracks.name[a]) < Text(store_.tracks.name[b]);
    });
  }
  int64_t SortIndex(size_t track) const {
    const int64_t index = store_.tracks.sort_index[track];
    return index == store::kNone ? 0 : index;
  }

  struct GroupName {
    std::string name;
    std::string path;
  };
  GroupName NameGroup(size_t process, uint32_t flags) const {
    const std::string_view name = Text(store_.tracks.name[process]);
    const std::string_view label = Text(store_.tracks.label[process]);
    if (name == "Ascend Hardware") return {std::string(name), "hw"};
    if (name == "CANN") return {std::string(name), "cann"};
    if (name == "HCCL" || name == "Communication") return {"Communication", "comm"};
    if (name == "Overlap Analysis") return {std::string(name), "overlap"};
    if (name == "Python")
      return {fmt::format("Python ({})", Text(store_.tracks.pid[process])), "py"};
    if ((flags & kDeviceLane) != 0 && !label.empty())
      return {fmt::format("{} streams", label), Slug(label)};
    if ((flags & kHostLane) != 0) {
      return {
          fmt::format("{} ({})", name.empty() ? "Python" : name, Text(store_.tracks.pid[process])),
          "py"};
    }
    const std::string_view pid = Text(store_.tracks.pid[process]);
    const std::string_view shown = !name.empty() ? name : !label.empty() ? label : pid;
    return {shown.empty() ? "Other" : std::string(shown), Slug(shown)};
  }

  void AddProcess(size_t process) {
    std::vector<size_t> threads = children_[process];
    Order(threads);
    threads.insert(threads.begin(), process);  // a process may have slices of its own
    uint32_t flags = 0;
    size_t total = 0;
    for (const size_t t : threads) {
      const size_t here = slices_[t].size() + stacks_[t].size();
      total += here;
      if (here > 0) flags |= FlagsOf(kinds_[t]);
    }
    if (total == 0) return;
    has_overlap_ = has_overlap_ || (flags & kOverlapLane) != 0;
    const GroupName named = NameGroup(process, flags);
    const int64_t device = DeviceOf(Text(store_.tracks.label[process]), store_.info.device);
    Lane& group = Add(LaneKind::kGroup, 1, named.name, fmt::format("{}/{}", Root(), named.path));
    group.device = device;
    const uint32_t group_id = group.id;
    const std::string group_path = group.path;
    for (const size_t t : threads) AddThread(t, group_id, group_path, device);
  }

  void AddThread(size_t track, uint32_t group, const std::string& path, int64_t device) {
    const std::string tid(Text(store_.tracks.tid[track]));
    std::string name(Text(store_.tracks.name[track]));
    if (name.empty()) name = tid.empty() ? "events" : "Thread " + tid;
    const auto add = [&](std::string lane_name, std::string slug, std::vector<uint32_t>& slices,
                         uint32_t flags) -> Lane* {
      if (slices.empty()) return nullptr;
      Lane& lane =
          Add(LaneKind::kSlices, group, std::move(lane_name), fmt::format("{}/{}", path, slug));
      lane.flags = flags;
      lane.device = device;
      lane.track = TrackId{static_cast<uint32_t>(track)};
      lane.count = slices.size();
      content_.back() = {columns_, std::move(slices)};
      return &lane;
    };
    const uint32_t flags = FlagsOf(kinds_[track]);
    out_.lane_of_track_[track] = add(name, Slug(name), slices_[track], flags);
    out_.stack_of_track_[track] = add(fmt::format("Python Stack {}", tid), "stack" + Slug(tid),
                                      stacks_[track], kHostLane | kPythonStackLane);
  }

  // What the reference's Overlap Analysis shows, where the capture lacks it.
  void AddDerivedOverlap() {
    if (analysis::DetectPlatform(store_, kinds_) == analysis::Platform::kHostOnly) return;
    const std::vector<analysis::DeviceWork> devices = analysis::CollectDeviceWork(store_);
    if (devices.empty()) return;
    Interval hull = DeviceHull();
    for (const analysis::DeviceWork& work : devices) {
      if (work.compute.empty() && work.communication.empty()) continue;
      for (const auto* list : {&work.compute, &work.communication}) {
        for (const Interval& in : *list)
          hull = {std::min(hull.begin_ns, in.begin_ns), std::max(hull.end_ns, in.end_ns)};
      }
      std::string name = "Overlap Analysis";
      if (devices.size() > 1) name += fmt::format(" ({})", work.device);
      Lane& group = Add(LaneKind::kGroup, 1, name, Root() + "/overlap");
      const uint32_t id = group.id;
      const std::string path = group.path;
      std::array<RankTimeline::Derived*, 4> parts{};
      for (size_t k = 0; k < parts.size(); ++k) {
        parts[k] = out_.derived_.emplace_back(std::make_unique<RankTimeline::Derived>()).get();
      }
      analysis::ForEachPiece(work.compute, work.communication, hull,
                             [&](analysis::PieceKind kind, Interval in) {
                               RankTimeline::Derived& part = *parts[static_cast<size_t>(kind)];
                               part.begin_ns.push_back(in.begin_ns);
                               part.dur_ns.push_back(in.end_ns - in.begin_ns);
                             });
      static constexpr std::array<std::string_view, 4> kNames = {
          "Computing", "Communication", "Communication(Not Overlapped)", "Free"};
      for (size_t k = 0; k < parts.size(); ++k) {
        parts[k]->text = kNames[k];
        AddDerivedLane(*parts[k], id, path);
      }
    }
  }

  Interval DeviceHull() const {
    Interval hull{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (size_t i = 0; i < content_.size(); ++i) {
      if ((out_.lanes_[i]->flags & kDeviceLane) == 0) continue;
      for (const uint32_t slice : content_[i].slices) {
        hull = {std::min(hull.begin_ns, columns_.begin(slice)),
                std::max(hull.end_ns, columns_.end(slice))};
      }
    }
    return hull;
  }

  void AddDerivedLane(RankTimeline::Derived& part, uint32_t group, const std::string& path) {
    const size_t count = part.begin_ns.size();
    if (count == 0) return;
    part.name.assign(count, StringId::kEmpty);
    part.name_id.assign(1, 0);
    Lane& lane = Add(LaneKind::kSlices, group, part.text, path + "/" + Slug(part.text));
    lane.flags = kOverlapLane | kDerivedLane;
    lane.count = count;
    std::vector<uint32_t> slices(count);
    for (size_t i = 0; i < count; ++i) slices[i] = static_cast<uint32_t>(i);
    content_.back() = {{part.begin_ns, part.dur_ns, part.name, part.name_id}, std::move(slices)};
  }

  // Counter processes below CPU metrics and NPU metrics.
  void AddCounters() {
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

  bool IsHostCounter(size_t process) const {
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

  void AddCounterProcess(size_t process, const std::vector<size_t>& series, uint32_t half,
                         std::vector<std::vector<uint32_t>>& samples) {
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
      lane.counter =
          CounterLane({store_.counters.ts_ns.span(), store_.counters.value.span(), {}, 1},
                      std::move(samples[t]));
      lane.count = lane.counter.size();
    }
  }

  // The allocator's totals, one lane a component, device and quantity.
  void AddMemory() {
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
        const std::string name = fmt::format(
            "{}{}{} {} [MB]", key.first, key.first.empty() ? "" : " ", key.second, quantity.name);
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

  void BuildRows(size_t i) {
    if (out_.lanes_[i]->kind != LaneKind::kSlices) return;
    out_.lanes_[i]->rows = LaneRows(content_[i].columns, std::move(content_[i].slices));
    out_.lanes_[i]->cover = LaneCover(out_.lanes_[i]->rows);
  }

  // Groups show when any of their lanes was busy; the rank shows its device if it has one.
  void Summarize() {
    auto& lanes = out_.lanes_;
    for (size_t i = lanes.size(); i-- > 1;) {
      Lane& parent = *lanes[lanes[i]->parent - 1];
      parent.count += lanes[i]->count;
      parent.flags |= lanes[i]->flags & ~uint32_t{kPythonStackLane | kDerivedLane};
    }
    pool_.ParallelFor(lanes.size(), [&](size_t i) {
      if (lanes[i]->kind == LaneKind::kGroup || lanes[i]->kind == LaneKind::kRank)
        lanes[i]->summary = Summary(LanesBelow(i));
    });
  }

  std::vector<const LaneRows*> LanesBelow(size_t top) const {
    const auto& lanes = out_.lanes_;
    const bool is_rank = lanes[top]->kind == LaneKind::kRank;
    const bool device_only = is_rank && (lanes[top]->flags & kDeviceLane) != 0;
    std::vector<const LaneRows*> out;
    for (size_t i = top; i < lanes.size(); ++i) {
      if (lanes[i]->kind != LaneKind::kSlices || !IsBelow(i, top)) continue;
      if (is_rank && (lanes[i]->flags & kOverlapLane) != 0) continue;
      if (device_only && (lanes[i]->flags & kDeviceLane) == 0) continue;
      out.push_back(&lanes[i]->rows);
    }
    return out;
  }
  bool IsBelow(size_t lane, size_t top) const {
    uint32_t id = out_.lanes_[lane]->id;
    while (id > top + 1) id = out_.lanes_[id - 1]->parent;
    return id == top + 1;
  }

  struct Content {
    SliceColumns columns;
    std::vector<uint32_t> slices;
  };

  const TraceStore& store_;
  ThreadPool& pool_;
  RankTimeline& out_;
  std::vector<TrackKind> kinds_;
  SliceColumns columns_;
  std::vector<std::vector<uint32_t>> slices_;  // by track
  std::vector<std::vector<uint32_t>> stacks_;
  std::vector<std::vector<size_t>> children_;
  std::vector<Content> content_;  // by lane
  std::set<std::string> paths_;
  bool has_overlap_ = false;
};

void BuildLaneTree(const TraceStore& store, ThreadPool& pool, RankTimeline& out) {
  TreeBuilder(store, pool, out).Build();
}

}  // namespace steplens::server
