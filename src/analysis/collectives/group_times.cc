#include "analysis/collectives/group_times.h"

#include <algorithm>
#include <map>

#include "analysis/cluster/group_name.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/collectives/job_call_times.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

// A waiting task that does not just end an RDMA transfer. `before` are the names of the tasks
// before it on its plane, the last one first.
bool Waits(std::string_view name, std::string_view before1, std::string_view before2,
           std::string_view before3) {
  if (name != "Notify_Wait") return false;
  const bool ends_transfer = before1 == "RDMASend" && before2 == "RDMASend";
  const bool ends_it_second =
      before1 == "Notify_Wait" && before2 == "RDMASend" && before3 == "RDMASend";
  return !ends_transfer && !ends_it_second;
}

// Waiting time inside `cover` on the plane whose tasks are `rows`, in order of begin.
int64_t PlaneWait(const TraceStore& store, const std::vector<uint32_t>& rows, const Cover& cover) {
  const store::CommTaskTable& tasks = store.comm_tasks;
  const auto name = [&](size_t i, size_t back) -> std::string_view {
    return i < back ? std::string_view() : store.Text(tasks.name[rows[i - back]]);
  };
  int64_t wait_ns = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!Waits(name(i, 0), name(i, 1), name(i, 2), name(i, 3))) continue;
    const int64_t begin_ns = tasks.begin_ns[rows[i]];
    wait_ns = AddNs(wait_ns, cover.Within({begin_ns, EndNs(begin_ns, tasks.dur_ns[rows[i]])}));
  }
  return wait_ns;
}

// The least waiting plane of each group.
std::map<StringId, int64_t> LeastWaits(const TraceStore& store, const Cover& cover) {
  const store::CommTaskTable& tasks = store.comm_tasks;
  std::map<std::pair<StringId, store::TrackId>, std::vector<uint32_t>> planes;
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    planes[{tasks.group_name[i], tasks.track[i]}].push_back(i);
  }
  std::map<StringId, int64_t> least;
  for (auto& [plane, rows] : planes) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](uint32_t a, uint32_t b) { return tasks.begin_ns[a] < tasks.begin_ns[b]; });
    const int64_t wait_ns = PlaneWait(store, rows, cover);
    const auto [place, is_new] = least.try_emplace(plane.first, wait_ns);
    if (!is_new) place->second = std::min(place->second, wait_ns);
  }
  return least;
}

}  // namespace

std::string GroupLabel(const TraceStore& store, uint32_t row) {
  const auto track = static_cast<size_t>(store.comm_ops.track[row]);
  const std::string_view group = store.Text(store.comm_ops.group_name[row]);
  std::string label;
  if (track < store.tracks.size()) label = store.Text(store.tracks.name[track]);
  if (label.find("Communication") == label.npos) {
    label = group.empty() ? "Communication" : "Group " + std::string(group) + " Communication";
  }
  const std::string name = cluster::GroupName(group);
  for (const cluster::GroupFact& fact : cluster::DescribeRank(store).groups) {
    if (fact.pg_name.empty() || (fact.id != group && cluster::GroupName(fact.id) != name)) continue;
    return fact.pg_name + ":" + label;
  }
  return label;
}

namespace {

// The calls of one group, divided.
class GroupParts {
 public:
  void Add(Interval call, const CallTimes& times, const CallPeers& peers) {
    calls_.push_back(call);
    source_ = std::max(source_, times.source);
    if (peers.is_partial() || peers_.members == 0) peers_ = peers;
    if (times.source == TimesSource::kUnknown) return;
    is_known_ = true;
    const int64_t waits_ns = EndNs(call.begin_ns, times.idle_ns);
    idle_.push_back({call.begin_ns, waits_ns});
    waiting_.push_back({waits_ns, EndNs(waits_ns, times.wait_ns)});
    known_.push_back(call);
  }

  void Fill(const Cover& not_overlapped, GroupTime& time) {
    const auto exposed = [&](std::vector<Interval> intervals) {
      int64_t ns = 0;
      const Cover cover(std::move(intervals));
      for (const Interval& run : cover.runs()) ns = AddNs(ns, not_overlapped.Within(run));
      return ns;
    };
    time.total_ns = exposed(std::move(calls_));
    time.source = source_;
    time.peers = peers_;
    if (!is_known_) return;
    // Calls may overlap each other: what waits in one of them does not idle in another.
    idle_.insert(idle_.end(), waiting_.begin(), waiting_.end());
    time.model_wait_ns = exposed(std::move(waiting_));
    time.idle_ns = exposed(std::move(idle_)) - time.model_wait_ns;
    time.transit_ns = exposed(std::move(known_)) - time.model_wait_ns - time.idle_ns;
  }

 private:
  std::vector<Interval> calls_, known_, idle_, waiting_;
  bool is_known_ = false;
  TimesSource source_ = TimesSource::kResults;
  CallPeers peers_;
};

}  // namespace

std::vector<GroupTime> GroupTimes(const store::Job& job, const TraceStore& store,
                                  const Cover& not_overlapped) {
  const store::CommOpTable& ops = store.comm_ops;
  if (ops.size() == 0) return {};
  std::map<StringId, std::vector<uint32_t>> groups;
  for (uint32_t i = 0; i < ops.size(); ++i) groups[ops.group_name[i]].push_back(i);
  const std::map<StringId, int64_t> waits = LeastWaits(store, not_overlapped);
  JobCallTimes calls(job);
  const auto rank_index = static_cast<uint32_t>(&store - job.ranks.data());

  std::vector<GroupTime> out;
  for (const auto& [group, rows] : groups) {
    GroupTime& time = out.emplace_back();
    time.label = GroupLabel(store, rows.front());
    GroupParts parts;
    for (const uint32_t row : rows) {
      parts.Add({ops.begin_ns[row], EndNs(ops.begin_ns[row], ops.dur_ns[row])},
                calls.Of(rank_index, row), calls.PeersOf(rank_index, row));
    }
    parts.Fill(not_overlapped, time);
    const auto wait = waits.find(group);
    time.has_tasks = wait != waits.end();
    if (time.has_tasks) time.wait_ns = std::min(wait->second, time.total_ns);
  }
  std::sort(out.begin(), out.end(),
            [](const GroupTime& a, const GroupTime& b) { return a.label < b.label; });
  return out;
}

}  // namespace steplens::analysis
