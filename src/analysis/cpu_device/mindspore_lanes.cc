#include "analysis/cpu_device/mindspore_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/classify/classify.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;
using store::TrackId;

using Point = std::pair<TrackId, int64_t>;    // a track and a time
using Launchers = std::map<Point, uint32_t>;  // where device work begins -> the host slice

std::string_view ProcessOf(const TraceStore& store, TrackId track) {
  const auto t = static_cast<size_t>(track);
  if (t >= store.tracks.size()) return {};
  const auto parent = static_cast<size_t>(store.tracks.parent[t]);
  return parent < store.tracks.size() ? store.Text(store.tracks.name[parent]) : std::string_view();
}

bool Launches(std::string_view name) {
  return name.find("KernelLaunch") != name.npos || name.find("LaunchTask") != name.npos;
}
bool MakesMark(std::string_view name) { return name.find("Mstx") != name.npos; }

using Ranges = std::map<StringId, std::vector<uint32_t>>;  // slices by the thread's id

// The ranges of each thread of MindSpore that have such names, by start. They do not lie inside
// each other.
Ranges FindRanges(const TraceStore& store, bool (*is_wanted)(std::string_view)) {
  Ranges by_tid;
  for (uint32_t i = 0; i < store.slices.size(); ++i) {
    const TrackId track = store.slices.track[i];
    if (!is_wanted(store.Text(store.slices.name[i])) || ProcessOf(store, track) != "MindSpore")
      continue;
    by_tid[store.tracks.tid[static_cast<size_t>(track)]].push_back(i);
  }
  for (auto& [tid, ranges] : by_tid) {
    std::stable_sort(ranges.begin(), ranges.end(), [&](uint32_t a, uint32_t b) {
      return store.slices.begin_ns[a] < store.slices.begin_ns[b];
    });
  }
  return by_tid;
}

// The range of a thread that a moment lies in; kNoId: none.
uint32_t RangeAround(const TraceStore& store, const Ranges& by_tid, StringId tid, int64_t at_ns) {
  const auto thread = by_tid.find(tid);
  if (thread == by_tid.end()) return store::kNoId;
  const auto after = std::upper_bound(
      thread->second.begin(), thread->second.end(), at_ns,
      [&](int64_t ns, uint32_t range) { return ns < store.slices.begin_ns[range]; });
  if (after == thread->second.begin()) return store::kNoId;
  const uint32_t range = *(after - 1);
  const bool is_over = EndNs(store.slices.begin_ns[range], store.slices.dur_ns[range]) < at_ns;
  return is_over ? store::kNoId : range;
}

void LinkMarks(TraceStore& store) {
  const Ranges by_tid = FindRanges(store, MakesMark);
  if (by_tid.empty()) return;
  const StringId kind = store.strings.Intern("mindspore_to_mstx");
  for (uint32_t i = 0; i < store.slices.size(); ++i) {
    const TrackId track = store.slices.track[i];
    const std::string_view process = ProcessOf(store, track);
    if (process != "python" && process != "python3") continue;
    const int64_t begin_ns = store.slices.begin_ns[i];
    const StringId tid = store.tracks.tid[static_cast<size_t>(track)];
    const uint32_t range = RangeAround(store, by_tid, tid, begin_ns);
    if (range == store::kNoId) continue;
    store.flows.Append(
        {kind, store.slices.track[range], store.slices.begin_ns[range], track, begin_ns});
  }
}

Launchers LinkLaunches(TraceStore& store) {
  Launchers launchers;
  const auto kind = store.strings.Find("HostToDevice");
  if (!kind) return launchers;
  const Ranges by_tid = FindRanges(store, Launches);
  const StringId async_npu = store.strings.Intern("async_npu");
  const size_t count = store.flows.size();
  for (size_t i = 0; i < count; ++i) {
    const auto host = static_cast<size_t>(store.flows.from_track[i]);
    if (store.flows.kind[i] != *kind || host >= store.tracks.size()) continue;
    const uint32_t range =
        RangeAround(store, by_tid, store.tracks.tid[host], store.flows.from_ns[i]);
    if (range == store::kNoId) continue;
    const Point device{store.flows.to_track[i], store.flows.to_ns[i]};
    launchers[device] = range;
    store.flows.Append({async_npu, store.slices.track[range], store.slices.begin_ns[range],
                        device.first, device.second});
  }
  return launchers;
}

bool IsScoped(std::string_view name) {
  return name.starts_with("Default") || name.starts_with("Gradients") ||
         name.starts_with("recompute_Default");
}

// "Default/network/Add-op1" -> "Default", "network"; nothing for names without a scope.
std::vector<std::string_view> ScopesOf(std::string_view name) {
  std::vector<std::string_view> scopes;
  if (!IsScoped(name)) return scopes;
  for (size_t cut = name.find('/'); cut != name.npos; cut = name.find('/')) {
    scopes.push_back(name.substr(0, cut));
    name.remove_prefix(cut + 1);
  }
  return scopes;
}

struct ScopedWork {
  int64_t begin_ns;
  int64_t end_ns;
  std::vector<std::string_view> scopes;  // of texts of the store
};

std::vector<ScopedWork> CollectScopedWork(const TraceStore& store, const Launchers& launchers) {
  const std::vector<TrackKind> kinds = ClassifyTracks(store);
  std::vector<ScopedWork> works;
  for (uint32_t i = 0; i < store.slices.size(); ++i) {
    const TrackId track = store.slices.track[i];
    const auto t = static_cast<size_t>(track);
    const bool is_device = t < kinds.size() && kinds[t] == TrackKind::kDevice;
    if (!is_device && ProcessOf(store, track) != "CPU OP") continue;
    std::vector<std::string_view> scopes = ScopesOf(store.Text(store.slices.name[i]));
    if (const auto parent = launchers.find({track, store.slices.begin_ns[i]});
        parent != launchers.end()) {
      const std::string_view name = store.Text(store.slices.name[parent->second]);
      const size_t at = name.rfind("::");
      std::vector<std::string_view> outer = ScopesOf(name.substr(at == name.npos ? 0 : at + 2));
      if (outer.size() > scopes.size()) scopes = std::move(outer);
    }
    if (scopes.empty()) continue;
    works.push_back({store.slices.begin_ns[i],
                     EndNs(store.slices.begin_ns[i], store.slices.dur_ns[i]), std::move(scopes)});
  }
  std::stable_sort(works.begin(), works.end(), [](const ScopedWork& a, const ScopedWork& b) {
    return a.begin_ns < b.begin_ns;
  });
  return works;
}

// A slice of the lane that may still grow.
struct Layer {
  std::string name;
  int64_t begin_ns;
  int64_t end_ns;
};

class ScopeLane {
 public:
  explicit ScopeLane(TraceStore& store) : store_(store) {}

  void Add(const ScopedWork& work) {
    if (!open_.empty() && work.begin_ns < open_.front().end_ns) return;
    size_t depth = 0;
    while (depth < open_.size() && depth < work.scopes.size() &&
           open_[depth].name == work.scopes[depth])
      open_[depth++].end_ns = work.end_ns;
    Close(depth);
    for (; depth < work.scopes.size(); ++depth)
      open_.push_back({std::string(work.scopes[depth]), work.begin_ns, work.end_ns});
  }
  void Close(size_t depth) {
    for (size_t i = depth; i < open_.size(); ++i) {
      const Layer& layer = open_[i];
      store_.slices.Append({Thread(i), layer.begin_ns, layer.end_ns - layer.begin_ns,
                            store_.strings.Intern(layer.name), StringId::kEmpty, store::kNone,
                            store::kNone, 0});
    }
    open_.resize(depth);
  }

 private:
  TrackId Thread(size_t depth) {
    if (threads_.empty()) {
      process_ = Append({.kind = store_.strings.Intern("process"),
                         .pid = store_.strings.Intern("3"),
                         .name = store_.strings.Intern("Scope Layer"),
                         .sort_index = 12});
    }
    while (threads_.size() <= depth) {
      const std::string tid = std::to_string(threads_.size());
      threads_.push_back(Append({.parent = process_,
                                 .kind = store_.strings.Intern("thread"),
                                 .pid = store_.strings.Intern("3"),
                                 .tid = store_.strings.Intern(tid),
                                 .name = store_.strings.Intern("Layer " + tid),
                                 .sort_index = static_cast<int64_t>(threads_.size())}));
    }
    return threads_[depth];
  }
  TrackId Append(const store::TrackTable::Row& row) {
    store_.tracks.Append(row);
    return TrackId{static_cast<uint32_t>(store_.tracks.size() - 1)};
  }

  TraceStore& store_;
  TrackId process_ = store::kNoTrack;
  std::vector<TrackId> threads_;  // by depth
  std::vector<Layer> open_;       // by depth
};

// Where arrows of a launch lead: the start and the name of the device's work.
using DeviceWorkStart = std::pair<int64_t, StringId>;

// The launching range of each piece of work of the device that an arrow leads to.
std::map<DeviceWorkStart, uint32_t> FindLaunches(const TraceStore& store) {
  std::map<DeviceWorkStart, uint32_t> launches;
  const auto kind = store.strings.Find("async_npu");
  if (!kind) return launches;
  std::map<Point, uint32_t> ranges;
  for (const auto& [tid, slices] : FindRanges(store, Launches)) {
    for (const uint32_t i : slices) ranges[{store.slices.track[i], store.slices.begin_ns[i]}] = i;
  }
  if (ranges.empty()) return launches;
  Launchers by_place;
  for (size_t i = 0; i < store.flows.size(); ++i) {
    if (store.flows.kind[i] != *kind) continue;
    const auto range = ranges.find({store.flows.from_track[i], store.flows.from_ns[i]});
    if (range != ranges.end())
      by_place[{store.flows.to_track[i], store.flows.to_ns[i]}] = range->second;
  }
  for (uint32_t i = 0; i < store.slices.size(); ++i) {
    const auto range = by_place.find({store.slices.track[i], store.slices.begin_ns[i]});
    if (range != by_place.end())
      launches[{store.slices.begin_ns[i], store.slices.name[i]}] = range->second;
  }
  return launches;
}

// The step that a moment lies in, both ends included; kNone: none.
int64_t HostStepAt(const store::StepTable& steps, int64_t ns) {
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps.begin_ns[i] <= ns && ns <= steps.end_ns[i]) return steps.step[i];
  }
  return store::kNone;
}

}  // namespace

std::vector<StringId> MindSporeLaunchers(const TraceStore& store) {
  const std::map<DeviceWorkStart, uint32_t> launches = FindLaunches(store);
  if (launches.empty()) return {};
  std::vector<StringId> names(store.kernels.size(), StringId::kEmpty);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto launch = launches.find({store.kernels.begin_ns[i], store.kernels.name[i]});
    if (launch != launches.end()) names[i] = store.slices.name[launch->second];
  }
  return names;
}

void FillMindSporeSteps(TraceStore& store) {
  const std::map<DeviceWorkStart, uint32_t> launches = FindLaunches(store);
  if (launches.empty()) return;
  for (size_t i = 0; i < store.kernels.size(); ++i) {
    const int64_t begin_ns = store.kernels.begin_ns[i];
    const auto launch = launches.find({begin_ns, store.kernels.name[i]});
    const int64_t at_ns =
        launch == launches.end() ? begin_ns : store.slices.begin_ns[launch->second];
    store.kernels.step.Set(i, HostStepAt(store.steps, at_ns));
  }
}

void AddMindSporeLanes(TraceStore& store) {
  const auto kinds = store.flows.kind.span();
  for (const std::string_view kind : {"async_npu", "mindspore_to_mstx"}) {
    const auto known = store.strings.Find(kind);
    if (known && std::find(kinds.begin(), kinds.end(), *known) != kinds.end()) return;
  }
  LinkMarks(store);
  const Launchers launchers = LinkLaunches(store);
  const std::vector<ScopedWork> works = CollectScopedWork(store, launchers);
  ScopeLane lane(store);
  for (const ScopedWork& work : works) lane.Add(work);
  lane.Close(0);
}

}  // namespace steplens::analysis
