#include "analysis/cluster/recipes/rank_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analysis/classify/classify.h"
#include "analysis/classify/collective_kernels.h"
#include "analysis/launches/launches.h"
#include "analysis/nesting/nesting.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using store::TraceStore;

constexpr std::string_view kCopyTask = "MEMCPY_ASYNC";

// Marks which entries of an ascending list of starts are kept.
std::vector<bool> NearestBefore(const std::vector<int64_t>& starts_ns, const TraceStore& rank) {
  std::vector<bool> kept(starts_ns.size(), starts_ns.size() <= kMostTasks);
  if (starts_ns.size() <= kMostTasks || rank.comm_ops.size() == 0) return kept;
  const size_t each = std::max<size_t>(1, kMostTasks / rank.comm_ops.size());
  for (const int64_t op_ns : rank.comm_ops.begin_ns) {
    const auto end =
        std::lower_bound(starts_ns.begin(), starts_ns.end(), op_ns) - starts_ns.begin();
    const auto last = static_cast<size_t>(end);
    for (size_t i = last - std::min(last, each); i < last; ++i) kept[i] = true;
  }
  return kept;
}

// Sorts by start and drops what is too much.
template <typename Entry>
void Bound(std::vector<Entry>& entries, const TraceStore& rank) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.begin_ns < b.begin_ns; });
  std::vector<int64_t> starts_ns;
  for (const Entry& entry : entries) starts_ns.push_back(entry.begin_ns);
  const std::vector<bool> kept = NearestBefore(starts_ns, rank);
  size_t next = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (kept[i] && next++ != i) entries[next - 1] = std::move(entries[i]);
  }
  entries.resize(next);
}

Timeline Pack(std::vector<TimelineTask> tasks, const TraceStore& rank) {
  std::erase_if(tasks, [](const TimelineTask& task) {
    return !IsPlausible(task.begin_ns, EndNs(task.begin_ns, task.dur_ns));
  });
  Bound(tasks, rank);
  Timeline timeline;
  for (const TimelineTask& task : tasks) timeline.Add(task.name, task.begin_ns, task.dur_ns);
  return timeline;
}

void AddKernels(const TraceStore& rank, std::vector<TimelineTask>& tasks) {
  const store::KernelTable& kernels = rank.kernels;
  CollectiveKernels is_collective(rank, DetectPlatform(rank, ClassifyTracks(rank)));
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (is_collective(i)) continue;
    tasks.push_back(
        {std::string(rank.Text(kernels.name[i])), kernels.begin_ns[i], kernels.dur_ns[i]});
  }
}

void AddCommOps(const TraceStore& rank, std::vector<TimelineTask>& tasks) {
  const store::CommOpTable& ops = rank.comm_ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    tasks.push_back({std::string(rank.Text(ops.name[i])), ops.begin_ns[i], ops.dur_ns[i]});
  }
}

void AddCommTaskHulls(const TraceStore& rank, std::vector<TimelineTask>& tasks) {
  std::map<StringId, std::pair<int64_t, int64_t>> hulls;
  const store::CommTaskTable& comm = rank.comm_tasks;
  for (size_t i = 0; i < comm.size(); ++i) {
    const int64_t end_ns = EndNs(comm.begin_ns[i], comm.dur_ns[i]);
    const auto [place, is_new] = hulls.try_emplace(comm.op_name[i], comm.begin_ns[i], end_ns);
    if (is_new) continue;
    place->second.first = std::min(place->second.first, comm.begin_ns[i]);
    place->second.second = std::max(place->second.second, end_ns);
  }
  for (const auto& [name, hull] : hulls) {
    tasks.push_back({std::string(rank.Text(name)), hull.first, hull.second - hull.first});
  }
}

// Everything that is in the slices: copies, operators, calls, launches.
class SliceCollector {
 public:
  explicit SliceCollector(const TraceStore& rank)
      : rank_(rank), tracks_(ClassifyTracks(rank)), kinds_(rank) {}

  void Collect(std::vector<TimelineTask>& device, RankTimeline& out) {
    std::vector<TimelineTask> operators;
    std::vector<TimelineTask> calls;
    for (size_t i = 0; i < rank_.slices.size(); ++i) {
      const SliceKind kind = kinds_[rank_.slices.category[i]];
      if (IsOn(i, TrackKind::kDevice) && IsCopy(i, kind)) {
        device.push_back(TaskOf(i, kCopyTask));
      } else if (kind == SliceKind::kHostOp && NameOf(i).find("::") != std::string_view::npos) {
        operators.push_back(TaskOf(i, NameOf(i)));
      } else if (IsOn(i, TrackKind::kCann)) {
        const auto api = ParseCannApi(NameOf(i));
        calls.push_back(
            TaskOf(i, api ? fmt::format("{}@{}", api->level, api->name) : std::string(NameOf(i))));
        if (NameOf(i) == "Node@launch") calls_.try_emplace(rank_.slices.correlation[i], i);
      } else if (IsGpuApi(kind)) {
        calls.push_back(TaskOf(i, NameOf(i)));
        calls_.try_emplace(rank_.slices.correlation[i], i);
      }
    }
    out.operators = Pack(std::move(operators), rank_);
    out.calls = Pack(std::move(calls), rank_);
    out.launched = Launched();
  }

 private:
  bool IsOn(size_t slice, TrackKind kind) const {
    const auto track = static_cast<size_t>(rank_.slices.track[slice]);
    return track < tracks_.size() && tracks_[track] == kind;
  }
  bool IsCopy(size_t slice, SliceKind kind) const {
    return kind == SliceKind::kMemcpy || NameOf(slice) == kCopyTask ||
           rank_.Text(rank_.slices.category[slice]) == kCopyTask;
  }
  std::string_view NameOf(size_t slice) const { return rank_.Text(rank_.slices.name[slice]); }
  TimelineTask TaskOf(size_t slice, std::string_view name) const {
    return {std::string(name), rank_.slices.begin_ns[slice], rank_.slices.dur_ns[slice]};
  }
  int64_t EndOf(size_t slice) const {
    return EndNs(rank_.slices.begin_ns[slice], rank_.slices.dur_ns[slice]);
  }

  std::vector<LaunchedTask> Launched() const {
    std::vector<LaunchedTask> launched;
    const TrackIndex index = BuildTrackIndex(rank_, [&](size_t row) {
      return kinds_[rank_.slices.category[row]] == SliceKind::kHostOp;
    });
    ForEachOperatorLaunch(rank_, tracks_, [&](const Launch& launch) {
      const store::SliceId op = index.LastStarted(rank_, launch.host_track, launch.host_ns);
      const auto task = static_cast<size_t>(launch.device);
      if (!IsOn(task, TrackKind::kDevice)) return;
      const auto call = calls_.find(rank_.slices.correlation[task]);
      if (op == store::kNoSlice || call == calls_.end() || call->first == kNone) return;
      for (const size_t slice : {static_cast<size_t>(op), call->second, task}) {
        if (!IsPlausible(rank_.slices.begin_ns[slice], EndOf(slice))) return;
      }
      const int64_t host_wait_ns =
          rank_.slices.begin_ns[call->second] - EndOf(static_cast<size_t>(op));
      const int64_t device_wait_ns = rank_.slices.begin_ns[task] - EndOf(call->second);
      launched.push_back({rank_.slices.begin_ns[task], AddNs(device_wait_ns, -host_wait_ns)});
    });
    Bound(launched, rank_);
    return launched;
  }

  const TraceStore& rank_;
  std::vector<TrackKind> tracks_;
  SliceKinds kinds_;
  std::unordered_map<int64_t, size_t> calls_;  // by correlation: what launches
};

}  // namespace

void Timeline::Add(const std::string& name, int64_t begin_ns, int64_t dur_ns) {
  const auto [place, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  rows_.push_back({place->second, SubtractSaturating(begin_ns, last_ns_), dur_ns});
  last_ns_ = begin_ns;
}

std::vector<TimelineTask> Timeline::Unpack() const {
  std::vector<TimelineTask> tasks;
  int64_t now_ns = 0;
  for (const Row& row : rows_) {
    now_ns = AddNs(now_ns, row.since_last_ns);
    tasks.push_back({row.name < names_.size() ? names_[row.name] : "", now_ns, row.dur_ns});
  }
  return tasks;
}

RankTimeline CollectTimeline(const TraceStore& rank, bool compat) {
  RankTimeline timeline;
  std::vector<TimelineTask> device;
  AddKernels(rank, device);
  compat ? AddCommTaskHulls(rank, device) : AddCommOps(rank, device);
  SliceCollector(rank).Collect(device, timeline);
  timeline.device = Pack(std::move(device), rank);
  return timeline;
}

}  // namespace steplens::analysis::cluster
