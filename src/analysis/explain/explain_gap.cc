#include <algorithm>
#include <array>
#include <map>

#include "analysis/any_case.h"
#include "analysis/classify/classify.h"
#include "analysis/classify/device_work.h"
#include "analysis/explain/explain.h"
#include "analysis/explain/explain_common.h"
#include "analysis/launches/launches.h"
#include "analysis/nesting/nesting.h"
#include "analysis/overlap/cover.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TraceStore;
using store::TrackId;

Interval TimesOf(const TraceStore& store, SliceId slice) {
  const auto row = static_cast<size_t>(slice);
  return {store.slices.begin_ns[row], EndNs(store.slices.begin_ns[row], store.slices.dur_ns[row])};
}

// Device tracks that the gap is about.
std::vector<bool> StreamsOf(const std::vector<TrackKind>& kinds, TrackId track) {
  std::vector<bool> wanted(kinds.size(), false);
  for (size_t t = 0; t < kinds.size(); ++t) {
    wanted[t] =
        track == store::kNoTrack ? kinds[t] == TrackKind::kDevice : t == static_cast<size_t>(track);
  }
  return wanted;
}

// The first task that starts when the gap ends, or later; kNoSlice if there is none.
SliceId NextTask(const TraceStore& store, const std::vector<bool>& streams, Interval gap) {
  SliceId next = kNoSlice;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto t = static_cast<size_t>(store.slices.track[i]);
    if (t >= streams.size() || !streams[t] || store.slices.begin_ns[i] < gap.end_ns) continue;
    if (next == kNoSlice ||
        store.slices.begin_ns[i] < store.slices.begin_ns[static_cast<size_t>(next)]) {
      next = static_cast<SliceId>(i);
    }
  }
  return next;
}

// Who asked for the task: as the operator saw it, and the call that sent it to the device.
struct LaunchPoints {
  Launch op;
  Launch api;
  bool has_op = false;
  bool has_api = false;
  // From when on the task was queued.
  int64_t QueuedNs() const { return has_api ? api.host_ns : op.host_ns; }
  TrackId HostTrack() const { return has_op ? op.host_track : api.host_track; }
};

LaunchPoints FindLaunch(const TraceStore& store, const std::vector<TrackKind>& kinds,
                        SliceId task) {
  LaunchPoints points;
  ForEachOperatorLaunch(store, kinds, [&](const Launch& launch) {
    if (launch.device != task) return;
    points.op = launch;
    points.has_op = true;
  });
  ForEachApiLaunch(store, kinds, [&](const Launch& launch) {
    if (launch.device != task) return;
    points.api = launch;
    points.has_api = true;
  });
  return points;
}

// How the gap divides. Parts add up to the gap.
struct GapParts {
  int64_t host_ns = 0;
  int64_t communication_ns = 0;
  int64_t dependency_ns = 0;
  int64_t launch_ns = 0;
};

GapParts Divide(const TraceStore& store, const std::vector<TrackKind>& kinds,
                const std::vector<bool>& streams, Interval gap, int64_t queued_ns) {
  GapParts parts;
  const int64_t queued_at_ns = std::clamp(queued_ns, gap.begin_ns, gap.end_ns);
  parts.host_ns = queued_at_ns - gap.begin_ns;
  const Interval rest{queued_at_ns, gap.end_ns};
  std::vector<Interval> communication;
  for (const DeviceWork& work : CollectDeviceWork(store)) {
    communication.insert(communication.end(), work.communication.begin(), work.communication.end());
  }
  std::vector<Interval> others;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto t = static_cast<size_t>(store.slices.track[i]);
    if (t >= kinds.size() || kinds[t] != TrackKind::kDevice || streams[t]) continue;
    others.push_back(TimesOf(store, static_cast<SliceId>(i)));
  }
  const Cover in_communication(communication);
  parts.communication_ns = in_communication.Within(rest);
  others.insert(others.end(), communication.begin(), communication.end());
  parts.dependency_ns = Cover(std::move(others)).Within(rest) - parts.communication_ns;
  parts.launch_ns = rest.end_ns - rest.begin_ns - parts.communication_ns - parts.dependency_ns;
  return parts;
}

// What kind of host work a name is, as far as it explains idle devices.
std::string_view HostCause(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kCauses{{
      {"dataloader", "gap.data_loader"},
      {"synchronize", "gap.synchronise"},
      {"aten::item", "gap.synchronise"},
      {"_local_scalar_dense", "gap.synchronise"},
      {"gc", "gap.garbage_collection"},
      {"compile", "gap.compile"},
      {"memcpy", "gap.copy"},
  }};
  for (const auto& [word, key] : kCauses) {
    if (word == "gc" ? StartsInAnyCase(name, "gc") : ContainsInAnyCase(name, word)) return key;
  }
  return "gap.host_op";
}

// The host slices that took most of the time on the launching thread, by self time in the window.
void AddHostWork(const TraceStore& store, uint32_t rank_index, TrackId host, Interval window,
                 int64_t gap_ns, std::vector<Evidence>& items) {
  const auto t = static_cast<size_t>(host);
  if (t >= store.tracks.size() || window.begin_ns >= window.end_ns) return;
  std::vector<bool> wanted(store.tracks.size(), false);
  wanted[t] = true;
  const TrackIndex index = BuildTrackIndex(store, wanted);
  const Nesting nesting = ComputeNesting(store, index);
  std::map<SliceId, int64_t> self_ns;
  for (const SliceId slice : index.slices(host)) {
    const Interval times = TimesOf(store, slice);
    const int64_t inside_ns =
        std::min(times.end_ns, window.end_ns) - std::max(times.begin_ns, window.begin_ns);
    if (inside_ns <= 0) continue;
    self_ns[slice] = AddNs(self_ns[slice], inside_ns);
    const SliceId parent = nesting.parent[static_cast<size_t>(slice)];
    if (parent != kNoSlice) self_ns[parent] -= inside_ns;
  }
  std::vector<std::pair<int64_t, SliceId>> longest;
  for (const auto& [slice, ns] : self_ns) {
    if (ns > 0) longest.emplace_back(ns, slice);
  }
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(kShown, longest.size()); ++i) {
    const auto& [ns, slice] = longest[i];
    const std::string name(store.Text(store.slices.name[static_cast<size_t>(slice)]));
    Evidence item = MakeEvidence(
        Message{std::string(HostCause(name)), {{"name", name}, {"time", TimeText(ns)}}}, ns,
        gap_ns);
    item.slice = SliceRef{rank_index, slice};
    items.push_back(std::move(item));
  }
}

}  // namespace

Result<Interval> FindGap(const TraceStore& store, TrackId track, int64_t ts_ns) {
  if (static_cast<size_t>(track) >= store.tracks.size()) {
    return Error{ErrorCode::kNotFound, "there is no such lane"};
  }
  std::optional<int64_t> before_ns;
  std::optional<int64_t> after_ns;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (store.slices.track[i] != track) continue;
    const Interval times = TimesOf(store, static_cast<SliceId>(i));
    if (times.begin_ns <= ts_ns && ts_ns < times.end_ns) {
      return Error{ErrorCode::kNotFound, "a task runs at this time: there is no gap"};
    }
    if (times.end_ns <= ts_ns) before_ns = std::max(before_ns.value_or(times.end_ns), times.end_ns);
    if (times.begin_ns > ts_ns) {
      after_ns = std::min(after_ns.value_or(times.begin_ns), times.begin_ns);
    }
  }
  if (!before_ns || !after_ns) {
    return Error{ErrorCode::kNotFound, "no task runs on this lane before or after this time"};
  }
  return Interval{*before_ns, *after_ns};
}

Result<Explanation> ExplainGap(const store::Job& job, uint32_t rank_index, TrackId track,
                               Interval gap) {
  if (rank_index >= job.ranks.size()) return Error{ErrorCode::kNotFound, "there is no such rank"};
  if (gap.begin_ns >= gap.end_ns || !IsPlausible(gap.begin_ns, gap.end_ns)) {
    return Error{ErrorCode::kInvalidArgument, "the gap is empty"};
  }
  const TraceStore& store = job.ranks[rank_index];
  const std::vector<TrackKind> kinds = ClassifyTracks(store);
  const std::vector<bool> streams = StreamsOf(kinds, track);
  const int64_t gap_ns = gap.end_ns - gap.begin_ns;
  Explanation out;
  out.title = Message{"gap.title", {{"time", TimeText(gap_ns)}}};
  const SliceId next = NextTask(store, streams, gap);
  const LaunchPoints launch = next == kNoSlice ? LaunchPoints{} : FindLaunch(store, kinds, next);
  if (next == kNoSlice || (!launch.has_op && !launch.has_api)) {
    out.items.push_back(MakeEvidence(Message{"gap.unknown"}, gap_ns, gap_ns));
    out.verdict = out.items.front().wording;
    return out;
  }
  const GapParts parts = Divide(store, kinds, streams, gap, launch.QueuedNs());
  const std::string name(store.Text(store.slices.name[static_cast<size_t>(next)]));
  const auto add = [&](const char* key, int64_t ns) {
    Evidence item =
        MakeEvidence(Message{key, {{"name", name}, {"time", TimeText(ns)}}}, ns, gap_ns);
    item.slice = SliceRef{rank_index, next};
    out.items.push_back(std::move(item));
  };
  add("gap.host_bound", parts.host_ns);
  add("gap.communication", parts.communication_ns);
  add("gap.dependency", parts.dependency_ns);
  add("gap.launch", parts.launch_ns);
  const auto largest =
      std::max_element(out.items.begin(), out.items.end(),
                       [](const Evidence& a, const Evidence& b) { return a.ns < b.ns; });
  out.verdict = largest->wording;
  const Interval host_window{gap.begin_ns, std::min(gap.end_ns, launch.QueuedNs())};
  AddHostWork(store, rank_index, launch.HostTrack(), host_window, gap_ns, out.items);
  return out;
}

}  // namespace steplens::analysis
