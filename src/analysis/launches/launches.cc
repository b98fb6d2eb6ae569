#include "analysis/launches/launches.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "analysis/classify/text_memo.h"
#include "analysis/launches/graph_captures.h"
#include "analysis/nesting/nesting.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TraceStore;
using store::TrackId;

// The slice that starts exactly at a point of its track. Flows mostly come in time order, so each
// track remembers where the last answer was and looks there first.
class StartFinder {
 public:
  StartFinder(const TraceStore& store, const std::vector<bool>& wanted_tracks)
      : begin_ns_(store.slices.begin_ns.span()),
        store_(store),
        index_(BuildTrackIndex(store, wanted_tracks)),
        cursor_(index_.first.begin(), index_.first.end()) {}

  SliceId Find(TrackId track, int64_t ts_ns) {
    const auto t = static_cast<size_t>(track);
    if (t + 1 >= index_.first.size()) return kNoSlice;
    for (uint32_t i = cursor_[t]; i < std::min(cursor_[t] + kNear, index_.first[t + 1]); ++i) {
      if (begin_ns(index_.order[i]) == ts_ns) return Remember(t, i);
    }
    const SliceId last = index_.LastStarted(store_, track, ts_ns);
    return last != kNoSlice && begin_ns(last) == ts_ns ? last : kNoSlice;
  }

 private:
  static constexpr uint32_t kNear = 8;

  int64_t begin_ns(SliceId s) const { return begin_ns_[static_cast<size_t>(s)]; }

  // Of slices that start together the last one is the innermost.
  SliceId Remember(size_t t, uint32_t i) {
    const int64_t ts_ns = begin_ns(index_.order[i]);
    while (i + 1 < index_.first[t + 1] && begin_ns(index_.order[i + 1]) == ts_ns) ++i;
    cursor_[t] = i;
    return index_.order[i];
  }

  std::span<const int64_t> begin_ns_;
  const TraceStore& store_;  // outlives the finder, which lives for one call
  TrackIndex index_;
  std::vector<uint32_t> cursor_;
};

using Visitor = std::function<void(const Launch&)>;

// False if no flow of the kind leads to a slice.
bool FollowFlows(const TraceStore& store, StringId kind, const Visitor& visit) {
  const auto& kinds = store.flows.kind;
  const auto& to_track = store.flows.to_track;
  std::vector<bool> wanted(store.tracks.size(), false);
  for (size_t i = 0; i < kinds.size(); ++i) {
    const auto to = static_cast<size_t>(to_track[i]);
    if (kinds[i] == kind && to < wanted.size()) wanted[to] = true;
  }
  bool found = false;
  StartFinder finder(store, wanted);
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != kind) continue;
    const SliceId device = finder.Find(to_track[i], store.flows.to_ns[i]);
    if (device == kNoSlice) continue;
    visit({store.flows.from_ns[i], store.flows.from_track[i], device});
    found = true;
  }
  return found;
}

// The API calls that can launch device work: GPU runtime and driver calls, node-level calls of
// CANN.
template <typename Visit>
void ForEachApiCall(const TraceStore& store, const std::vector<TrackKind>& tracks,
                    const SliceKinds& kinds, Visit&& visit) {
  TextMemo is_node(store, [](std::string_view name) { return name.starts_with("Node@"); });
  const auto& category = store.slices.category;
  const auto& track = store.slices.track;
  const auto& correlation = store.slices.correlation;
  for (size_t i = 0, rows = category.size(); i < rows; ++i) {
    if (correlation[i] == store::kNone) continue;
    const auto t = static_cast<size_t>(track[i]);
    const bool is_cann = t < tracks.size() && tracks[t] == TrackKind::kCann;
    if (is_cann ? is_node(store.slices.name[i]) : IsGpuApi(kinds[category[i]])) {
      visit(correlation[i], static_cast<SliceId>(i));
    }
  }
}

// API call of each correlation id, the first one if several have it. Ids are handed out one after
// the other, so an array serves; scattered ones are searched.
class CallByCorrelation {
 public:
  CallByCorrelation(const TraceStore& store, const std::vector<TrackKind>& tracks,
                    const SliceKinds& kinds) {
    uint64_t count = 0;
    int64_t highest = std::numeric_limits<int64_t>::min();
    ForEachApiCall(store, tracks, kinds, [&](int64_t correlation, SliceId) {
      lowest_ = std::min(lowest_, correlation);
      highest = std::max(highest, correlation);
      ++count;
    });
    if (count == 0) return;
    if (Offset(highest) > 8 * count + 4096) {
      ForEachApiCall(store, tracks, kinds, [&](int64_t correlation, SliceId call) {
        sorted_.emplace_back(correlation, call);
      });
      std::sort(sorted_.begin(), sorted_.end());
      return;
    }
    dense_.assign(Offset(highest) + 1, kNoSlice);
    ForEachApiCall(store, tracks, kinds, [&](int64_t correlation, SliceId call) {
      SliceId& place = dense_[Offset(correlation)];
      if (place == kNoSlice) place = call;
    });
  }

  SliceId Find(int64_t correlation) const {
    if (!dense_.empty()) {
      const uint64_t i = Offset(correlation);
      return correlation >= lowest_ && i < dense_.size() ? dense_[i] : kNoSlice;
    }
    const auto it = std::lower_bound(sorted_.begin(), sorted_.end(),
                                     std::pair(correlation, static_cast<SliceId>(0)));
    return it != sorted_.end() && it->first == correlation ? it->second : kNoSlice;
  }

 private:
  uint64_t Offset(int64_t correlation) const {
    return static_cast<uint64_t>(correlation) - static_cast<uint64_t>(lowest_);
  }

  int64_t lowest_ = std::numeric_limits<int64_t>::max();
  std::vector<SliceId> dense_;
  std::vector<std::pair<int64_t, SliceId>> sorted_;
};

}  // namespace

bool IsGraphLaunch(std::string_view call) {
  return call.find("GraphLaunch") != std::string_view::npos;
}

void ForEachApiLaunch(const TraceStore& store, const std::vector<TrackKind>& tracks,
                      const Visitor& visit) {
  const SliceKinds kinds(store);
  const bool is_gpu = DetectPlatform(store, tracks) == Platform::kGpu;
  const CallByCorrelation calls(store, tracks, kinds);
  const auto begin_ns = store.slices.begin_ns.span();
  const auto& category = store.slices.category;
  const auto& correlation = store.slices.correlation;
  const auto& track = store.slices.track;
  for (size_t i = 0, rows = track.size(); i < rows; ++i) {
    const auto t = static_cast<size_t>(track[i]);
    if (t >= tracks.size() || tracks[t] != TrackKind::kDevice) continue;
    // A GPU stream also holds waits and annotations; on an Ascend stream every task was launched.
    if (is_gpu && !IsGpuWork(kinds[category[i]])) continue;
    if (correlation[i] == store::kNone) continue;
    const SliceId call = calls.Find(correlation[i]);
    if (call == kNoSlice) continue;
    const auto c = static_cast<size_t>(call);
    visit({begin_ns[c], track[c], static_cast<SliceId>(i), call});
  }
}

void ForEachOperatorLaunch(const TraceStore& store, const std::vector<TrackKind>& tracks,
                           const Visitor& visit) {
  if (DetectPlatform(store, tracks) == Platform::kGpu) {
    std::vector<SliceId> launch_of(store.slices.size(), kNoSlice);
    ForEachApiLaunch(store, tracks, [&](const Launch& launch) {
      launch_of[static_cast<size_t>(launch.device)] = launch.call;
    });
    const GraphRecords records(store, SliceKinds(store), launch_of);
    ForEachApiLaunch(store, tracks, [&](Launch launch) {
      if (const SliceId call = records.CallOf(launch.device); call != kNoSlice) {
        launch.owner_ns = store.slices.begin_ns[static_cast<size_t>(call)];
        launch.owner_track = store.slices.track[static_cast<size_t>(call)];
      }
      visit(launch);
    });
    return;
  }
  for (const std::string_view kind : {"async_npu", "HostToDevice"}) {
    const auto id = store.strings.Find(kind);
    if (id && FollowFlows(store, *id, visit)) return;
  }
}

}  // namespace steplens::analysis
