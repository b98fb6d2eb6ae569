#include "analysis/whatif/host_lanes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/classify/text_memo.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::SliceId;
using store::TrackId;

// A thread that only calls the runtime of a device, or has nothing but annotations, is one as well.
bool IsThread(const RankView& rank, size_t track) {
  const TrackKind kind = rank.tracks()[track];
  if (kind == TrackKind::kHost || kind == TrackKind::kCann) return true;
  if (kind != TrackKind::kOther) return false;
  const auto slices = rank.track_index().slices(static_cast<TrackId>(track));
  return std::any_of(slices.begin(), slices.end(), [&](SliceId slice) {
    switch (rank.slice_kinds()[rank.store().slices.category[static_cast<size_t>(slice)]]) {
      case SliceKind::kHostOp:
      case SliceKind::kAnnotation:
      case SliceKind::kPython:
      case SliceKind::kRuntime:
      case SliceKind::kDriver:
        return true;
      default:
        return false;
    }
  });
}

// Of an Ascend capture, the operators of a thread and its calls into CANN are tracks of two
// processes, with the same number.
std::vector<std::vector<TrackId>> TracksByThread(const RankView& rank) {
  const store::TraceStore& store = rank.store();
  std::vector<std::vector<TrackId>> out;
  std::map<StringId, size_t> place_of;
  for (size_t t = 0; t < rank.tracks().size(); ++t) {
    const auto track = static_cast<TrackId>(t);
    if (rank.track_index().slices(track).empty() || !IsThread(rank, t)) continue;
    const StringId tid = store.tracks.tid[t];
    size_t place = out.size();
    if (tid != StringId::kEmpty && rank.platform() == Platform::kAscend)
      place = place_of.try_emplace(tid, place).first->second;
    if (place == out.size()) out.emplace_back();
    out[place].push_back(track);
  }
  return out;
}

// In drawing order over all tracks of a thread.
std::vector<SliceId> SlicesOf(const RankView& rank, const std::vector<TrackId>& tracks,
                              Interval window) {
  const auto begin_ns = rank.store().slices.begin_ns.span();
  const auto dur_ns = rank.store().slices.dur_ns.span();
  std::vector<SliceId> out;
  for (const TrackId track : tracks) {
    const size_t before = out.size();
    for (const SliceId slice : rank.track_index().slices(track)) {
      const auto s = static_cast<size_t>(slice);
      if (begin_ns[s] >= window.end_ns || EndNs(begin_ns[s], dur_ns[s]) <= window.begin_ns)
        continue;
      out.push_back(slice);
    }
    const auto order = [&](SliceId a, SliceId b) {
      const auto i = static_cast<size_t>(a);
      const auto j = static_cast<size_t>(b);
      return std::tie(begin_ns[i], dur_ns[j], a) < std::tie(begin_ns[j], dur_ns[i], b);
    };
    std::inplace_merge(out.begin(), out.begin() + static_cast<int64_t>(before), out.end(), order);
  }
  return out;
}

}  // namespace

HostLanes::HostLanes(const RankView& rank, Interval window)
    : lane_of_track_(rank.tracks().size(), kNoIndex), ranges_(rank.store().slices.size()) {
  for (const std::vector<TrackId>& tracks : TracksByThread(rank)) {
    const std::vector<SliceId> slices = SlicesOf(rank, tracks, window);
    if (slices.empty()) continue;
    for (const TrackId track : tracks)
      lane_of_track_[static_cast<size_t>(track)] = static_cast<uint32_t>(lanes_.size());
    HostLane& lane = lanes_.emplace_back();
    lane.track = tracks.front();
    Flatten(rank, slices, window, lane);
  }
  FindMain(rank);
}

void HostLanes::Flatten(const RankView& rank, const std::vector<SliceId>& slices, Interval window,
                        HostLane& lane) {
  struct Open {
    int64_t end_ns;
    SliceId slice;
  };
  const auto begins = rank.store().slices.begin_ns.span();
  const auto durations = rank.store().slices.dur_ns.span();
  std::vector<HostSegment>& out = lane.segments;
  std::vector<Open> open;
  int64_t now_ns = window.begin_ns;
  const auto run_to = [&](int64_t until_ns) {
    if (until_ns <= now_ns) return;
    out.push_back({now_ns, until_ns, open.empty() ? store::kNoSlice : open.back().slice});
    now_ns = until_ns;
  };
  const auto close_until = [&](int64_t ts_ns) {
    while (!open.empty() && open.back().end_ns <= ts_ns) {
      run_to(open.back().end_ns);
      ranges_[static_cast<size_t>(open.back().slice)].last = static_cast<uint32_t>(out.size()) - 1;
      open.pop_back();
    }
  };
  for (const SliceId slice : slices) {
    const auto s = static_cast<size_t>(slice);
    close_until(begins[s]);
    run_to(std::min(begins[s], window.end_ns));
    int64_t end_ns = std::min(EndNs(begins[s], durations[s]), window.end_ns);
    // What runs longer than what it lies in was recorded with another clock.
    if (!open.empty()) end_ns = std::min(end_ns, open.back().end_ns);
    ranges_[s] = {static_cast<uint32_t>(out.size()), static_cast<uint32_t>(out.size()) - 1};
    open.push_back({std::max(end_ns, now_ns), slice});
  }
  close_until(window.end_ns);
  run_to(window.end_ns);
}

void HostLanes::FindMain(const RankView& rank) {
  const store::TraceStore& store = rank.store();
  TextMemo is_step(store, [](std::string_view name) { return name.starts_with("ProfilerStep#"); });
  size_t most = 0;
  for (uint32_t l = 0; l < lanes_.size(); ++l) {
    for (const HostSegment& segment : lanes_[l].segments) {
      if (segment.owner == store::kNoSlice) continue;
      if (!is_step(store.slices.name[static_cast<size_t>(segment.owner)])) continue;
      main_ = l;
      return;
    }
    if (lanes_[l].segments.size() <= most) continue;
    most = lanes_[l].segments.size();
    main_ = l;
  }
}

uint32_t HostLanes::LaneOf(TrackId track) const {
  const auto t = static_cast<size_t>(track);
  return t < lane_of_track_.size() ? lane_of_track_[t] : kNoIndex;
}

uint32_t HostLanes::SegmentAt(uint32_t lane, int64_t ts_ns) const {
  const std::vector<HostSegment>& segments = lanes_[lane].segments;
  const auto after = std::upper_bound(
      segments.begin(), segments.end(), ts_ns,
      [](int64_t ts, const HostSegment& segment) { return ts < segment.begin_ns; });
  return after == segments.begin() ? 0 : static_cast<uint32_t>(after - segments.begin()) - 1;
}

}  // namespace steplens::analysis
