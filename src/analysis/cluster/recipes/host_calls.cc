#include "analysis/cluster/recipes/host_calls.h"

#include <algorithm>

#include "analysis/classify/classify.h"

namespace steplens::analysis::cluster {

HostCalls::HostCalls(const store::TraceStore& rank) : steps_(rank.steps) {
  const std::vector<TrackKind> tracks = ClassifyTracks(rank);
  const SliceKinds kinds(rank);
  const store::SliceTable& slices = rank.slices;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (slices.correlation[i] == store::kNone) continue;
    const auto track = static_cast<size_t>(slices.track[i]);
    const bool is_cann = track < tracks.size() && tracks[track] == TrackKind::kCann;
    if (is_cann || IsGpuApi(kinds[slices.category[i]]))
      starts_.emplace_back(slices.correlation[i], slices.begin_ns[i]);
  }
  std::sort(starts_.begin(), starts_.end());
}

int64_t HostCalls::StartOf(int64_t correlation) const {
  if (correlation == store::kNone) return store::kNone;
  const auto first =
      std::lower_bound(starts_.begin(), starts_.end(), std::pair(correlation, store::kNone));
  return first != starts_.end() && first->first == correlation ? first->second : store::kNone;
}

std::optional<int64_t> HostCalls::StepAt(int64_t ts_ns) const {
  if (steps_.size() == 0) return kNoStep;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (ts_ns >= steps_.begin_ns[i] && ts_ns <= steps_.end_ns[i]) return steps_.step[i];
  }
  return std::nullopt;
}

}  // namespace steplens::analysis::cluster
