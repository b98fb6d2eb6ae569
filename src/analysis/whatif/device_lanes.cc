#include "analysis/whatif/device_lanes.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/classify/device_work.h"
#include "analysis/classify/text_memo.h"
#include "analysis/classify/wait_kind.h"
#include "analysis/launches/launches.h"
#include "analysis/overlap/cover.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TraceStore;
using store::TrackId;

bool IsCopyTask(std::string_view name) {
  return name.starts_with("MEMCPY") || name.starts_with("SDMA") || name.starts_with("PCIE");
}

// Without an accelerator, the operators of the host were recorded as the device's: each "launch"
// and its task are the same thing.
bool IsHostTheDevice(const TraceStore& store) {
  const auto kind = store.strings.Find("async_npu");
  if (!kind) return false;
  size_t looked_at = 0;
  for (size_t i = 0; i < store.flows.size() && looked_at < 100; ++i) {
    if (store.flows.kind[i] != *kind) continue;
    if (store.flows.from_ns[i] != store.flows.to_ns[i]) return false;
    ++looked_at;
  }
  return looked_at > 0;
}

class TaskCollector {
 public:
  TaskCollector(const RankView& rank, const GraphWindow& window)
      : rank_(rank),
        store_(rank.store()),
        window_(window),
        begin_ns_(store_.slices.begin_ns.span()),
        dur_ns_(store_.slices.dur_ns.span()),
        stream_of_row_(store_.comm_ops.size(), store::kNoTrack),
        call_of_row_(store_.comm_ops.size(), kNoSlice),
        is_taken_(store_.comm_ops.size(), false) {}

  std::vector<DeviceTask> Run() {
    FindCommOps();
    FindLaunches();
    if (!IsHostTheDevice(store_)) {
      for (size_t t = 0; t < rank_.tracks().size(); ++t) {
        if (rank_.tracks()[t] == TrackKind::kDevice) AddStream(static_cast<TrackId>(t));
      }
    }
    AddOtherCommOps();
    std::sort(out_.begin(), out_.end(), [](const DeviceTask& a, const DeviceTask& b) {
      return std::tie(a.track, a.begin_ns, a.end_ns, a.slice) <
             std::tie(b.track, b.begin_ns, b.end_ns, b.slice);
    });
    return std::move(out_);
  }

 private:
  struct CommPlace {
    TrackId track;
    int64_t begin_ns;
    uint32_t row;
    bool operator<(const CommPlace& other) const {
      return std::tie(track, begin_ns) < std::tie(other.track, other.begin_ns);
    }
  };

  void FindCommOps() {
    std::vector<Interval> times;
    for (uint32_t row = 0; row < store_.comm_ops.size(); ++row) {
      const int64_t begin_ns = store_.comm_ops.begin_ns[row];
      places_.push_back({store_.comm_ops.track[row], begin_ns, row});
      times.push_back({begin_ns, EndNs(begin_ns, store_.comm_ops.dur_ns[row])});
      if (store_.comm_ops.correlation[row] != store::kNone)
        row_of_correlation_.try_emplace(store_.comm_ops.correlation[row], row);
    }
    std::sort(places_.begin(), places_.end());
    comm_cover_ = Cover(std::move(times));
  }

  uint32_t RowAt(TrackId track, int64_t begin_ns) const {
    const auto it = std::lower_bound(places_.begin(), places_.end(), CommPlace{track, begin_ns, 0});
    const bool is_found = it != places_.end() && it->track == track && it->begin_ns == begin_ns;
    return is_found ? it->row : kNoIndex;
  }

  void FindLaunches() {
    ForEachOperatorLaunch(store_, rank_.tracks(), [&](const Launch& launch) {
      launches_.try_emplace(launch.device, launch);
    });
  }

  bool IsInWindow(int64_t begin_ns, int64_t end_ns) const {
    return begin_ns < window_.end_ns && end_ns > window_.begin_ns && IsPlausible(begin_ns, end_ns);
  }

  void Add(DeviceTask task) {
    if (!IsInWindow(task.begin_ns, task.end_ns) && task.begin_ns != task.end_ns) return;
    if (task.begin_ns < window_.begin_ns || task.begin_ns >= window_.end_ns) {
      if (task.begin_ns == task.end_ns) return;
    }
    if (task.call == kNoSlice && task.slice != kNoSlice &&
        static_cast<size_t>(task.slice) < rank_.launch_calls().size()) {
      task.call = rank_.launch_calls()[static_cast<size_t>(task.slice)];
    }
    if (task.call != kNoSlice) {
      const auto call = static_cast<size_t>(task.call);
      task.host_track = store_.slices.track[call];
      task.host_ns = begin_ns_[call];
    } else if (const auto found = launches_.find(task.slice); found != launches_.end()) {
      task.host_track = found->second.host_track;
      task.host_ns = found->second.host_ns;
    }
    if (task.host_ns != store::kNone && window_.steps > 0 && task.host_ns >= window_.host_end_ns)
      return;
    task.begin_ns = std::max(task.begin_ns, window_.begin_ns);
    out_.push_back(task);
  }

  // Tasks that carry out a collective, whose time is the collective's.
  bool IsPartOfCollective(size_t slice, std::string_view name) {
    const auto found = row_of_correlation_.find(store_.slices.correlation[slice]);
    if (found != row_of_correlation_.end()) {
      const uint32_t row = found->second;
      if (stream_of_row_[row] == store::kNoTrack) {
        stream_of_row_[row] = store_.slices.track[slice];
        call_of_row_[row] = rank_.launch_calls()[slice];
      }
      return true;
    }
    if (IsDeviceSideOfCollective(name)) return true;
    if (!IsTaskKindName(name) || name.starts_with("MEMCPY") || name.starts_with("EVENT"))
      return false;
    return comm_cover_.Within({begin_ns_[slice], begin_ns_[slice] + 1}) > 0;
  }

  void AddStream(TrackId track) {
    const bool is_gpu = rank_.platform() == Platform::kGpu;
    for (const SliceId slice : rank_.track_index().slices(track)) {
      const auto s = static_cast<size_t>(slice);
      const int64_t end_ns = EndNs(begin_ns_[s], dur_ns_[s]);
      if (begin_ns_[s] >= window_.end_ns) break;
      if (end_ns < window_.begin_ns) continue;
      const SliceKind kind = rank_.slice_kinds()[store_.slices.category[s]];
      if (is_gpu && !IsGpuWork(kind) && kind != SliceKind::kCollective) continue;
      DeviceTask task{.track = track, .begin_ns = begin_ns_[s], .end_ns = end_ns, .slice = slice};
      const std::string_view name = store_.Text(store_.slices.name[s]);
      task.comm_op = RowAt(track, begin_ns_[s]);
      if (task.comm_op != kNoIndex) {
        task.kind = NodeKind::kCollective;
        is_taken_[task.comm_op] = true;
      } else if (is_gpu) {
        if (kind != SliceKind::kKernel || store::IsCopyKernel(name)) task.kind = NodeKind::kCopy;
      } else if (IsPartOfCollective(s, name)) {
        continue;
      } else {
        task.kind = AscendKind(name);
      }
      Add(task);
    }
  }

  static NodeKind AscendKind(std::string_view name) {
    if (WaitKindOf(name, TrackKind::kDevice) == WaitKind::kEvent) return NodeKind::kEventWait;
    if (IsCopyTask(name)) return NodeKind::kCopy;
    return IsTaskKindName(name) ? NodeKind::kMark : NodeKind::kCompute;
  }

  void AddOtherCommOps() {
    for (uint32_t row = 0; row < store_.comm_ops.size(); ++row) {
      if (is_taken_[row]) continue;
      const TrackId track = store_.comm_ops.track[row];
      const int64_t begin_ns = store_.comm_ops.begin_ns[row];
      DeviceTask task{.kind = NodeKind::kCollective,
                      .track = stream_of_row_[row] == store::kNoTrack ? track : stream_of_row_[row],
                      .begin_ns = begin_ns,
                      .end_ns = EndNs(begin_ns, store_.comm_ops.dur_ns[row]),
                      .comm_op = row,
                      .call = call_of_row_[row]};
      const SliceId slice = rank_.track_index().LastStarted(store_, track, begin_ns);
      if (slice != kNoSlice && begin_ns_[static_cast<size_t>(slice)] == begin_ns)
        task.slice = slice;
      Add(task);
    }
  }

  const RankView& rank_;
  const TraceStore& store_;
  const GraphWindow& window_;
  std::span<const int64_t> begin_ns_;
  std::span<const int64_t> dur_ns_;
  std::vector<CommPlace> places_;
  std::unordered_map<int64_t, uint32_t> row_of_correlation_;
  Cover comm_cover_;
  std::unordered_map<SliceId, Launch> launches_;
  std::vector<TrackId> stream_of_row_;
  std::vector<SliceId> call_of_row_;
  std::vector<bool> is_taken_;
  std::vector<DeviceTask> out_;
};

}  // namespace

std::vector<DeviceTask> CollectDeviceTasks(const RankView& rank, const GraphWindow& window) {
  return TaskCollector(rank, window).Run();
}

}  // namespace steplens::analysis
