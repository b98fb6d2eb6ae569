#include "analysis/cpu_device/operator_links.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/operators/host_ops.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TraceStore;
using store::TrackId;

struct LaunchPoint {
  int64_t host_ns;
  TrackId host_track;
  int64_t device_ns;
  TrackId device_track;
};

std::vector<LaunchPoint> LaunchesOf(const TraceStore& store) {
  std::vector<LaunchPoint> launches;
  const auto kind = store.strings.Find("HostToDevice");
  if (!kind) return launches;
  for (size_t i = 0; i < store.flows.size(); ++i) {
    if (store.flows.kind[i] != *kind) continue;
    launches.push_back({store.flows.from_ns[i], store.flows.from_track[i], store.flows.to_ns[i],
                        store.flows.to_track[i]});
  }
  std::stable_sort(
      launches.begin(), launches.end(),
      [](const LaunchPoint& a, const LaunchPoint& b) { return a.host_ns < b.host_ns; });
  return launches;
}

// The items of the task queue.
class Queue {
 public:
  explicit Queue(const TraceStore& store) : store_(store) {
    const auto dequeue = store.strings.Find("dequeue");
    const auto enqueue = store.strings.Find("enqueue");
    for (uint32_t i = 0; i < store.slices.size(); ++i) {
      const StringId category = store.slices.category[i];
      if (category == dequeue) dequeues_.push_back(i);
      if (category == enqueue) enqueue_of_.try_emplace(store.slices.correlation[i], i);
    }
    std::stable_sort(dequeues_.begin(), dequeues_.end(),
                     [&](uint32_t a, uint32_t b) { return End(a) < End(b); });
  }
  bool empty() const { return dequeues_.empty(); }

  // The enqueue item behind a launch; nothing if there is none. Times must ascend.
  std::optional<uint32_t> EnqueueAt(int64_t host_ns) {
    while (next_ < dequeues_.size() && End(dequeues_[next_]) < host_ns) ++next_;
    if (next_ == dequeues_.size()) return std::nullopt;
    const uint32_t item = dequeues_[next_];
    if (store_.slices.begin_ns[item] > host_ns) return std::nullopt;
    const auto found = enqueue_of_.find(store_.slices.correlation[item]);
    return found == enqueue_of_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  int64_t End(uint32_t slice) const {
    return EndNs(store_.slices.begin_ns[slice], store_.slices.dur_ns[slice]);
  }
  const TraceStore& store_;  // outlives this, which lives for one call
  std::vector<uint32_t> dequeues_;
  std::unordered_map<int64_t, uint32_t> enqueue_of_;
  size_t next_ = 0;
};

// The framework's track of the thread that a track of CANN is about, by their common thread id.
std::vector<TrackId> FrameworkTracks(const TraceStore& store) {
  const auto is_python = [&](size_t track) {
    const auto parent = static_cast<size_t>(store.tracks.parent[track]);
    return parent < store.tracks.size() && store.Text(store.tracks.name[parent]) == "Python";
  };
  std::map<StringId, TrackId> by_tid;
  for (uint32_t t = 0; t < store.tracks.size(); ++t) {
    if (is_python(t)) by_tid.try_emplace(store.tracks.tid[t], TrackId{t});
  }
  std::vector<TrackId> out(store.tracks.size(), store::kNoTrack);
  for (size_t t = 0; t < out.size(); ++t) {
    const auto found = by_tid.find(store.tracks.tid[t]);
    if (found != by_tid.end()) out[t] = found->second;
  }
  return out;
}

}  // namespace

void AppendOperatorLinks(TraceStore& store) {
  const StringId async_npu = store.strings.Intern("async_npu");
  const auto kinds = store.flows.kind.span();
  if (std::find(kinds.begin(), kinds.end(), async_npu) != kinds.end()) return;
  const std::vector<LaunchPoint> launches = LaunchesOf(store);
  if (launches.empty()) return;
  const HostOpFinder finder(store);
  Queue queue(store);
  const std::vector<TrackId> framework = FrameworkTracks(store);
  for (const LaunchPoint& launch : launches) {
    SliceId op = kNoSlice;
    if (!queue.empty()) {
      const auto item = queue.EnqueueAt(launch.host_ns);
      if (!item) continue;
      op = finder.Find(store.slices.track[*item], store.slices.begin_ns[*item]);
    } else if (static_cast<size_t>(launch.host_track) < framework.size()) {
      op = finder.Find(framework[static_cast<size_t>(launch.host_track)], launch.host_ns);
    }
    if (op == kNoSlice) continue;
    const auto row = static_cast<size_t>(op);
    store.flows.Append({async_npu, store.slices.track[row], store.slices.begin_ns[row],
                        launch.device_track, launch.device_ns});
  }
}

}  // namespace steplens::analysis
