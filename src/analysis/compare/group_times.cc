#include "analysis/compare/group_times.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/cluster/group_name.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/overlap/cover.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis::compare {
namespace {

using store::kNone;
using store::TrackId;

// A group, with the tasks of each of its planes.
struct Group {
  GroupTime time;
  std::vector<Interval> ops;
  std::map<TrackId, std::vector<Interval>> waits;  // by plane
};

// How long the lists overlap; both by begin. Intervals of b that overlap each other count each.
int64_t OverlapOf(std::span<const Interval> a, std::span<const Interval> b) {
  int64_t sum_ns = 0;
  size_t next = 0;
  for (const Interval& one : a) {
    while (next < b.size()) {
      if (b[next].end_ns <= one.begin_ns) {
        ++next;
        continue;
      }
      if (b[next].begin_ns >= one.end_ns) break;
      const int64_t from_ns = std::max(b[next].begin_ns, one.begin_ns);
      if (b[next].end_ns >= one.end_ns) {
        sum_ns = AddNs(sum_ns, SubtractSaturating(one.end_ns, from_ns));
        break;
      }
      sum_ns = AddNs(sum_ns, SubtractSaturating(b[next].end_ns, from_ns));
      ++next;
    }
  }
  return sum_ns;
}

// The parts of b inside of a.
std::vector<Interval> Clipped(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> clipped;
  size_t next = 0;
  for (const Interval& one : b) {
    while (next > 0 && a[next - 1].end_ns > one.begin_ns) --next;
    while (next < a.size() && a[next].end_ns <= one.begin_ns) ++next;
    for (size_t i = next; i < a.size() && a[i].begin_ns < one.end_ns; ++i) {
      clipped.push_back({std::max(a[i].begin_ns, one.begin_ns), std::min(a[i].end_ns, one.end_ns)});
    }
  }
  return clipped;
}

// Tells waits for another rank from those for the payload of an RDMA transfer, plane by plane.
class WaitFilter {
 public:
  bool IsWait(TrackId plane, std::string_view task) {
    char kind = 'O';
    if (task == "RDMASend") kind = 'R';
    if (task == "Notify_Wait") kind = 'N';
    std::string& last = last_[plane];
    const bool is_payload = last.ends_with("RR") || last == "RRNR";
    last += kind;
    if (last.size() > 4) last.erase(0, 1);
    return kind == 'N' && !is_payload;
  }

 private:
  std::map<TrackId, std::string> last_;
};

class GroupCollector {
 public:
  GroupCollector(const Side& side, bool compat) : side_(side), compat_(compat) {}

  std::vector<Group> Collect() {
    if (compat_ && side_.is_db) {
      CollectOps();
    } else {
      CollectTracks();
      CollectOps();
    }
    CollectWaits();
    return std::move(groups_);
  }

 private:
  // The threads of the communication process in display order: that of a group, then its planes.
  void CollectTracks() {
    const store::TrackTable& tracks = side_.store.tracks;
    std::vector<size_t> threads;
    for (size_t i = 0; i < tracks.size(); ++i) {
      const TrackKind kind = side_.view.tracks()[i];
      if (kind == TrackKind::kCommGroup || kind == TrackKind::kCommPlane) threads.push_back(i);
    }
    const auto place = [&](size_t i) {
      const int64_t tid = ParseInt64(side_.store.Text(tracks.tid[i])).value_or(0);
      const int64_t sort = tracks.sort_index[i];
      return std::tuple(tracks.parent[i], sort == kNone ? tid : sort, tid);
    };
    std::stable_sort(threads.begin(), threads.end(),
                     [&](size_t a, size_t b) { return place(a) < place(b); });
    size_t group = groups_.size();
    for (const size_t i : threads) {
      const auto track = static_cast<TrackId>(i);
      if (side_.view.tracks()[i] == TrackKind::kCommGroup) {
        group = groups_.size();
        AddGroup(track, side_.store.Text(tracks.name[i]));
      } else if (group < groups_.size()) {
        group_of_[track] = group;
        groups_[group].waits[track];
      }
    }
  }

  void AddGroup(TrackId track, std::string_view name) {
    group_of_[track] = groups_.size();
    groups_.emplace_back().time.name = name;
  }

  void CollectOps() {
    const store::CommOpTable& ops = side_.store.comm_ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!side_.IsDeviceTime(ops.begin_ns[i])) continue;
      const std::string_view id = side_.store.Text(ops.group_name[i]);
      if (!group_of_.contains(ops.track[i])) AddGroup(ops.track[i], id);
      Group& group = groups_[group_of_[ops.track[i]]];
      group.ops.push_back({ops.begin_ns[i], EndNs(ops.begin_ns[i], ops.dur_ns[i])});
      if (group.time.parallel_name.empty()) group.time.parallel_name = ParallelName(id);
      track_of_group_[ops.group_name[i]] = ops.track[i];
    }
    for (Group& group : groups_) SortIntervals(group.ops);
  }

  void CollectWaits() {
    const store::CommTaskTable& tasks = side_.store.comm_tasks;
    std::vector<uint32_t> order(tasks.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return tasks.begin_ns[a] < tasks.begin_ns[b]; });
    WaitFilter filter;
    for (const uint32_t i : order) {
      if (!side_.IsDeviceTime(tasks.begin_ns[i])) continue;
      if (!filter.IsWait(tasks.track[i], side_.store.Text(tasks.name[i]))) continue;
      const std::optional<size_t> group = GroupOfTask(i);
      if (!group) continue;
      groups_[*group].waits[tasks.track[i]].push_back(
          {tasks.begin_ns[i], EndNs(tasks.begin_ns[i], tasks.dur_ns[i])});
    }
  }
  std::optional<size_t> GroupOfTask(uint32_t task) const {
    const auto plane = group_of_.find(side_.store.comm_tasks.track[task]);
    if (plane != group_of_.end()) return plane->second;
    const auto track = track_of_group_.find(side_.store.comm_tasks.group_name[task]);
    if (track == track_of_group_.end()) return std::nullopt;
    return group_of_.at(track->second);
  }

  // tp, dp, ... where metadata name the group. A db given to the reference never has them.
  std::string ParallelName(std::string_view id) {
    if (compat_ && side_.is_db) return {};
    if (!facts_) facts_ = cluster::DescribeRank(side_.store);
    for (const cluster::GroupFact& fact : facts_->groups) {
      const bool is_it =
          fact.id == id || (!compat_ && cluster::GroupName(fact.id) == cluster::GroupName(id));
      if (is_it) return fact.pg_name;
    }
    return {};
  }

  const Side& side_;
  const bool compat_;
  std::vector<Group> groups_;
  std::map<TrackId, size_t> group_of_;  // by the track of the group or a plane
  std::map<StringId, TrackId> track_of_group_;
  std::optional<cluster::RankFacts> facts_;
};

// The plane with the smallest sum of waits.
std::span<const Interval> ShortestWaits(const Group& group) {
  std::span<const Interval> shortest;
  int64_t shortest_ns = kNone;
  for (const auto& [plane, waits] : group.waits) {
    int64_t sum_ns = 0;
    for (const Interval& wait : waits)
      sum_ns = AddNs(sum_ns, SubtractSaturating(wait.end_ns, wait.begin_ns));
    if (shortest_ns != kNone && sum_ns >= shortest_ns) continue;
    shortest_ns = sum_ns;
    shortest = waits;
  }
  return shortest;
}

int64_t UnionOfWaits(const Group& group, std::span<const Interval> uncovered) {
  std::vector<Interval> all;
  for (const auto& [plane, waits] : group.waits) all.insert(all.end(), waits.begin(), waits.end());
  const Cover waits(std::move(all));
  const Cover ops(group.ops);
  const std::vector<Interval> inside = Clipped(ops.runs(), waits.runs());
  return OverlapOf(uncovered, inside);
}

}  // namespace

void MeasureGroups(const Side& side, const SheetOptions& options,
                   std::span<const Interval> uncovered, Overall& overall) {
  const std::vector<Group> groups = GroupCollector(side, options.compat).Collect();
  for (const Group& group : groups) {
    GroupTime time = group.time;
    int64_t total_ns = 0;
    if (options.compat) {
      time.wait_ns = OverlapOf(uncovered, ShortestWaits(group));
      total_ns = OverlapOf(uncovered, group.ops);
    } else {
      const Cover ops(group.ops);
      time.wait_ns = UnionOfWaits(group, uncovered);
      total_ns = OverlapOf(uncovered, ops.runs());
    }
    time.transmit_ns = total_ns - time.wait_ns;
    overall.wait_ns = AddNs(overall.wait_ns, time.wait_ns);
    overall.groups.push_back(time);
  }
  std::vector<std::vector<Interval>> clipped;
  for (const Group& group : groups) clipped.push_back(Clipped(uncovered, group.ops));
  const auto label = [](const GroupTime& time) {
    return time.parallel_name.empty() ? time.name : time.parallel_name;
  };
  for (size_t a = 0; a < groups.size(); ++a) {
    for (size_t b = a + 1; b < groups.size(); ++b) {
      const int64_t ns = OverlapOf(clipped[a], clipped[b]);
      if (ns == 0) continue;
      overall.overlaps.push_back({label(groups[a].time) + " & " + label(groups[b].time), ns});
    }
  }
}

}  // namespace steplens::analysis::compare
