#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>

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

// For each gap the first task that starts when it ends, or later; kNoSlice if there is none.
std::vector<SliceId> NextTasks(const TraceStore& store, const std::vector<bool>& streams,
                               std::span<const Interval> gaps) {
  std::vector<size_t> by_end(gaps.size());
  std::iota(by_end.begin(), by_end.end(), size_t{0});
  std::sort(by_end.begin(), by_end.end(),
            [&](size_t a, size_t b) { return gaps[a].end_ns < gaps[b].end_ns; });
  std::vector<int64_t> ends;
  for (const size_t gap : by_end) ends.push_back(gaps[gap].end_ns);
  const auto begins_before = [&](SliceId a, SliceId b) {
    return b == kNoSlice || store.slices.begin_ns[static_cast<size_t>(a)] <
                                store.slices.begin_ns[static_cast<size_t>(b)];
  };
  // A task is next for the last gap that ends before it, and for those before unless they have one.
  std::vector<SliceId> next(gaps.size(), kNoSlice);  // in the order of by_end
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto t = static_cast<size_t>(store.slices.track[i]);
    if (t >= streams.size() || !streams[t]) continue;
    const auto after = std::upper_bound(ends.begin(), ends.end(), store.slices.begin_ns[i]);
    if (after == ends.begin()) continue;
    SliceId& found = next[static_cast<size_t>(after - ends.begin()) - 1];
    if (begins_before(static_cast<SliceId>(i), found)) found = static_cast<SliceId>(i);
  }
  std::vector<SliceId> out(gaps.size(), kNoSlice);
  SliceId later = kNoSlice;
  for (size_t i = gaps.size(); i-- > 0;) {
    if (next[i] == kNoSlice) next[i] = later;
    later = next[i];
    out[by_end[i]] = next[i];
  }
  return out;
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

using LaunchesOfTasks = std::unordered_map<SliceId, LaunchPoints>;

LaunchesOfTasks FindLaunches(const TraceStore& store, const std::vector<TrackKind>& kinds,
                             std::span<const SliceId> tasks) {
  LaunchesOfTasks of_task;
  for (const SliceId task : tasks) {
    if (task != kNoSlice) of_task.try_emplace(task);
  }
  if (of_task.empty()) return of_task;
  ForEachOperatorLaunch(store, kinds, [&](const Launch& launch) {
    const auto points = of_task.find(launch.device);
    if (points == of_task.end()) return;
    points->second.op = launch;
    points->second.has_op = true;
  });
  ForEachApiLaunch(store, kinds, [&](const Launch& launch) {
    const auto points = of_task.find(launch.device);
    if (points == of_task.end()) return;
    points->second.api = launch;
    points->second.has_api = true;
  });
  return of_task;
}

// How the gap divides. Parts add up to the gap.
struct GapParts {
  int64_t host_ns = 0;
  int64_t communication_ns = 0;
  int64_t dependency_ns = 0;
  int64_t launch_ns = 0;
};

// What else the device did: collectives, and the streams that the gaps are not about.
struct OtherWork {
  Cover communication;
  Cover any;

  OtherWork(const TraceStore& store, const std::vector<TrackKind>& kinds,
            const std::vector<bool>& streams) {
    std::vector<Interval> collectives;
    for (const DeviceWork& work : CollectDeviceWork(store))
      collectives.insert(collectives.end(), work.communication.begin(), work.communication.end());
    std::vector<Interval> others = collectives;
    for (size_t i = 0; i < store.slices.size(); ++i) {
      const auto t = static_cast<size_t>(store.slices.track[i]);
      if (t >= kinds.size() || kinds[t] != TrackKind::kDevice || streams[t]) continue;
      others.push_back(TimesOf(store, static_cast<SliceId>(i)));
    }
    communication = Cover(std::move(collectives));
    any = Cover(std::move(others));
  }
};

GapParts Divide(const OtherWork& others, Interval gap, int64_t queued_ns) {
  GapParts parts;
  const int64_t queued_at_ns = std::clamp(queued_ns, gap.begin_ns, gap.end_ns);
  parts.host_ns = queued_at_ns - gap.begin_ns;
  const Interval rest{queued_at_ns, gap.end_ns};
  parts.communication_ns = others.communication.Within(rest);
  parts.dependency_ns = others.any.Within(rest) - parts.communication_ns;
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

// The slices of a host thread, and which lies in which.
struct HostThread {
  TrackIndex index;
  Nesting nesting;

  HostThread(const TraceStore& store, TrackId track) {
    std::vector<bool> wanted(store.tracks.size(), false);
    wanted[static_cast<size_t>(track)] = true;
    index = BuildTrackIndex(store, wanted);
    nesting = ComputeNesting(store, index);
  }
};

// The host slices that took most of the time on the launching thread, by self time in the window.
void AddHostWork(const TraceStore& store, uint32_t rank_index, TrackId host,
                 const HostThread& thread, Interval window, int64_t gap_ns,
                 std::vector<Evidence>& items) {
  std::map<SliceId, int64_t> self_ns;
  for (const SliceId slice : thread.index.slices(host)) {
    const Interval times = TimesOf(store, slice);
    if (times.begin_ns >= window.end_ns) break;
    const int64_t inside_ns =
        std::min(times.end_ns, window.end_ns) - std::max(times.begin_ns, window.begin_ns);
    if (inside_ns <= 0) continue;
    self_ns[slice] = AddNs(self_ns[slice], inside_ns);
    const SliceId parent = thread.nesting.parent[static_cast<size_t>(slice)];
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
  return std::move(ExplainGaps(job, rank_index, track, std::span(&gap, 1)).front());
}

std::vector<Result<Explanation>> ExplainGaps(const store::Job& job, uint32_t rank_index,
                                             TrackId track, std::span<const Interval> gaps) {
  std::vector<Result<Explanation>> out;
  if (rank_index >= job.ranks.size()) {
    for (size_t i = 0; i < gaps.size(); ++i)
      out.emplace_back(Error{ErrorCode::kNotFound, "there is no such rank"});
    return out;
  }
  const TraceStore& store = job.ranks[rank_index];
  const std::vector<TrackKind> kinds = ClassifyTracks(store);
  const std::vector<bool> streams = StreamsOf(kinds, track);
  const std::vector<SliceId> next = NextTasks(store, streams, gaps);
  const LaunchesOfTasks launches = FindLaunches(store, kinds, next);
  std::optional<OtherWork> others;          // made for the first gap that needs it
  std::map<TrackId, HostThread> of_thread;  // likewise
  for (size_t i = 0; i < gaps.size(); ++i) {
    const Interval gap = gaps[i];
    if (gap.begin_ns >= gap.end_ns || !IsPlausible(gap.begin_ns, gap.end_ns)) {
      out.emplace_back(Error{ErrorCode::kInvalidArgument, "the gap is empty"});
      continue;
    }
    const int64_t gap_ns = gap.end_ns - gap.begin_ns;
    Explanation why;
    why.title = Message{"gap.title", {{"time", TimeText(gap_ns)}}};
    const LaunchPoints launch = next[i] == kNoSlice ? LaunchPoints{} : launches.at(next[i]);
    if (!launch.has_op && !launch.has_api) {
      why.items.push_back(MakeEvidence(Message{"gap.unknown"}, gap_ns, gap_ns));
      why.verdict = why.items.front().wording;
      out.emplace_back(std::move(why));
      continue;
    }
    if (!others) others.emplace(store, kinds, streams);
    const GapParts parts = Divide(*others, gap, launch.QueuedNs());
    const std::string name(store.Text(store.slices.name[static_cast<size_t>(next[i])]));
    const auto add = [&](const char* key, int64_t ns) {
      Evidence item =
          MakeEvidence(Message{key, {{"name", name}, {"time", TimeText(ns)}}}, ns, gap_ns);
      item.slice = SliceRef{rank_index, next[i]};
      why.items.push_back(std::move(item));
    };
    add("gap.host_bound", parts.host_ns);
    add("gap.communication", parts.communication_ns);
    add("gap.dependency", parts.dependency_ns);
    add("gap.launch", parts.launch_ns);
    const auto largest =
        std::max_element(why.items.begin(), why.items.end(),
                         [](const Evidence& a, const Evidence& b) { return a.ns < b.ns; });
    why.verdict = largest->wording;
    const Interval window{gap.begin_ns, std::min(gap.end_ns, launch.QueuedNs())};
    const TrackId host = launch.HostTrack();
    if (static_cast<size_t>(host) < store.tracks.size() && window.begin_ns < window.end_ns) {
      const auto thread = of_thread.try_emplace(host, store, host).first;
      AddHostWork(store, rank_index, host, thread->second, window, gap_ns, why.items);
    }
    out.emplace_back(std::move(why));
  }
  return out;
}

}  // namespace steplens::analysis
