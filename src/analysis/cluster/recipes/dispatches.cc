#include "analysis/cluster/recipes/dispatches.h"

#include <algorithm>

#include "analysis/launches/launches.h"
#include "analysis/nesting/nesting.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNoSlice;
using store::SliceId;

bool IsEarlier(const std::pair<int64_t, Interval>& a, const std::pair<int64_t, Interval>& b) {
  return std::pair(a.first, a.second.begin_ns) < std::pair(b.first, b.second.begin_ns);
}

Interval IntervalOf(const store::TraceStore& rank, size_t slice) {
  return {rank.slices.begin_ns[slice],
          EndNs(rank.slices.begin_ns[slice], rank.slices.dur_ns[slice])};
}

}  // namespace

Dispatches::Dispatches(const store::TraceStore& rank, const std::vector<TrackKind>& tracks) {
  AddApis(rank, tracks);
  AddOperators(rank, tracks);
  std::stable_sort(apis_.begin(), apis_.end(), IsEarlier);
  std::stable_sort(operators_.begin(), operators_.end(), IsEarlier);
}

void Dispatches::AddApis(const store::TraceStore& rank, const std::vector<TrackKind>& tracks) {
  const SliceKinds kinds(rank);
  for (size_t i = 0; i < rank.slices.size(); ++i) {
    const int64_t correlation = rank.slices.correlation[i];
    if (correlation == store::kNone) continue;
    const auto track = static_cast<size_t>(rank.slices.track[i]);
    const bool is_cann = track < tracks.size() && tracks[track] == TrackKind::kCann;
    const bool is_call = is_cann || IsGpuApi(kinds[rank.slices.category[i]]);
    const Interval time = IntervalOf(rank, i);
    if (is_call && IsPlausible(time.begin_ns, time.end_ns)) apis_.emplace_back(correlation, time);
  }
}

void Dispatches::AddOperators(const store::TraceStore& rank, const std::vector<TrackKind>& tracks) {
  std::vector<bool> is_host(tracks.size());
  for (size_t t = 0; t < tracks.size(); ++t) is_host[t] = tracks[t] == TrackKind::kHost;
  const TrackIndex index = BuildTrackIndex(rank, is_host);
  const Nesting nesting = ComputeNesting(rank, index);
  const SliceKinds kinds(rank);
  ForEachOperatorLaunch(rank, tracks, [&](const Launch& launch) {
    const int64_t correlation = rank.slices.correlation[static_cast<size_t>(launch.device)];
    if (correlation == store::kNone) return;
    SliceId op = nesting.InnermostAt(rank, index, launch.host_track, launch.host_ns);
    while (op != kNoSlice &&
           kinds[rank.slices.category[static_cast<size_t>(op)]] != SliceKind::kHostOp)
      op = nesting.parent[static_cast<size_t>(op)];
    if (op == kNoSlice) return;
    const Interval time = IntervalOf(rank, static_cast<size_t>(op));
    if (IsPlausible(time.begin_ns, time.end_ns)) operators_.emplace_back(correlation, time);
  });
}

std::optional<Interval> Dispatches::Find(const Entries& entries, int64_t correlation) {
  if (correlation == store::kNone) return std::nullopt;
  const auto first =
      std::lower_bound(entries.begin(), entries.end(), correlation,
                       [](const auto& entry, int64_t wanted) { return entry.first < wanted; });
  if (first == entries.end() || first->first != correlation) return std::nullopt;
  return first->second;
}

}  // namespace steplens::analysis::cluster
