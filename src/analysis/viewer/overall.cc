#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "analysis/cells.h"
#include "analysis/collectives/group_times.h"
#include "analysis/kernels/kernel_paths.h"
#include "analysis/overlap/overlap_lanes.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

// Overall Metrics: where the time of a rank went, as a tree.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

constexpr std::string_view kComputing = "Computing Time";
constexpr std::string_view kNotOverlapped = "Communication(Not Overlapped) Time";

// A node of the tree. Counted nodes know how many kernels they hold and their extremes.
struct Node {
  std::string path;
  std::string name;
  int64_t level = 1;
  int64_t total_ns = 0;
  int64_t count = store::kNone;
  int64_t min_ns = std::numeric_limits<int64_t>::max();
  int64_t max_ns = 0;
  double wait_us = kNoNumber;  // the parts of a communication group
  double transit_us = kNoNumber;
  double idle_us = kNoNumber;
  std::string source{};
  int64_t captured = store::kNone;
  int64_t members = store::kNone;
  std::deque<Node> children{};

  Node& Child(std::string_view child_name) {
    for (Node& child : children) {
      if (child.name == child_name) return child;
    }
    Node& child = children.emplace_back();
    child.path = path + " > " + std::string(child_name);
    child.name = child_name;
    child.level = level + 1;
    return child;
  }
  void Count(int64_t dur_ns) {
    count = count == store::kNone ? 1 : count + 1;
    min_ns = std::min(min_ns, dur_ns);
    max_ns = std::max(max_ns, dur_ns);
  }
};

Node Top(std::string_view name, int64_t total_ns) {
  Node node;
  node.path = name;
  node.name = name;
  node.total_ns = total_ns;
  return node;
}

int64_t TotalTouching(const std::vector<Interval>& lane, const TimeRange& range) {
  int64_t total_ns = 0;
  for (const Interval& in : lane) {
    if (range.Touches(in.begin_ns, in.end_ns)) {
      total_ns = AddNs(total_ns, in.end_ns - in.begin_ns);
    }
  }
  return total_ns;
}

// Kernels of the range by path. Level 2 by name, deeper levels in order of appearance, what no
// kernel explains as "Other".
void AddKernels(const TraceStore& store, const KernelPaths& paths, const TimeRange& range,
                Node& computing) {
  int64_t explained_ns = 0;
  for (size_t i = 0; i < paths.of_kernel.size(); ++i) {
    const int64_t begin_ns = store.kernels.begin_ns[i];
    const int64_t dur_ns = store.kernels.dur_ns[i];
    if (begin_ns == store::kNone || dur_ns == store::kNone) continue;
    if (!range.Touches(begin_ns, EndNs(begin_ns, dur_ns))) continue;
    const auto levels = paths.of_kernel[i].Levels();
    if (levels.empty()) continue;
    computing.Count(dur_ns);
    explained_ns = AddNs(explained_ns, dur_ns);
    Node* node = &computing;
    for (const std::string_view level : levels) {
      node = &node->Child(level);
      node->total_ns = AddNs(node->total_ns, dur_ns);
      node->Count(dur_ns);
    }
  }
  if (computing.children.empty()) return;
  std::sort(computing.children.begin(), computing.children.end(),
            [](const Node& a, const Node& b) { return a.name < b.name; });
  if (computing.total_ns > explained_ns) {
    computing.Child("Other").total_ns = SubtractSaturating(computing.total_ns, explained_ns);
  }
}

void AddGroups(const MetricCall& call, const TraceStore& store, const Cover& not_overlapped,
               Node& communication) {
  for (const GroupTime& group : GroupTimes(call.job, store, not_overlapped)) {
    Node& node = communication.Child(group.label);
    node.total_ns = group.total_ns;
    node.source = SourceName(group.source);
    node.captured = group.peers.captured;
    if (group.peers.members > 0) node.members = group.peers.members;
    if (group.transit_ns != store::kNone) {
      node.wait_us = NsToUs(group.model_wait_ns);
      node.transit_us = NsToUs(group.transit_ns);
      node.idle_us = NsToUs(group.idle_ns);
    }
    if (!group.has_tasks) continue;
    node.Child("Wait Time").total_ns = group.wait_ns;
    node.Child("Transmit Time").total_ns = std::max<int64_t>(0, group.total_ns - group.wait_ns);
  }
}

void Write(const Node& node, double e2e_us, TableRows& rows) {
  const double total_us = NsToUs(node.total_ns);
  const bool counted = node.count != store::kNone;
  rows.Add(node.path, node.level, RoundTo(total_us, 2), RoundTo(100 * Share(total_us, e2e_us), 2),
           node.count, counted ? RoundTo(total_us / static_cast<double>(node.count), 2) : kNoNumber,
           counted ? NsToUs(node.min_ns) : kNoNumber, counted ? NsToUs(node.max_ns) : kNoNumber,
           node.wait_us, node.transit_us, node.idle_us, node.source, node.captured, node.members);
  for (const Node& child : node.children) Write(child, e2e_us, rows);
}

// The four (on GPUs five) sums over the lanes of all devices of the rank.
struct Sums {
  int64_t computing_ns = 0;
  int64_t not_overlapped_ns = 0;
  int64_t memory_ns = 0;
  int64_t free_ns = 0;
  std::vector<Interval> not_overlapped;
  int64_t e2e_ns() const {
    return AddNs(AddNs(computing_ns, not_overlapped_ns), AddNs(memory_ns, free_ns));
  }
};

Sums SumLanes(const TraceStore& store, const TimeRange& range) {
  Sums sums;
  for (const OverlapLanes& lanes : ComputeOverlapLanes(store)) {
    sums.computing_ns = AddNs(sums.computing_ns, TotalTouching(lanes.computing, range));
    sums.not_overlapped_ns =
        AddNs(sums.not_overlapped_ns, TotalTouching(lanes.not_overlapped, range));
    sums.memory_ns = AddNs(sums.memory_ns, TotalTouching(lanes.memory, range));
    sums.free_ns = AddNs(sums.free_ns, TotalTouching(lanes.free, range));
    for (const Interval& in : lanes.not_overlapped) {
      if (range.Touches(in.begin_ns, in.end_ns)) sums.not_overlapped.push_back(in);
    }
  }
  return sums;
}

}  // namespace

Result<MetricAnswer> Overall(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  MetricAnswer answer;
  answer.definition = "insight.overall_metrics";
  answer.query = "SELECT * FROM breakdown WHERE Rank = " + std::to_string(store->info.rank);
  const Sums sums = SumLanes(*store, range);
  const KernelPaths paths = ClassifyKernels(*store);
  Node computing = Top(kComputing, sums.computing_ns);
  AddKernels(*store, paths, range, computing);
  if (!paths.is_known && store->kernels.size() > 0) {
    answer.warnings.push_back(Message{"warning.no_unit_times"});
  }
  Node communication = Top(kNotOverlapped, sums.not_overlapped_ns);
  AddGroups(call, *store, Cover(sums.not_overlapped), communication);

  TableRows rows("overall",
                 {TextColumn("path"), IntColumn("level"), NumberColumn("total_us", 2),
                  NumberColumn("ratio", 2), IntColumn("count"), NumberColumn("avg_us", 2),
                  NumberColumn("min_us", 3), NumberColumn("max_us", 3), NumberColumn("wait_us", 3),
                  NumberColumn("transit_us", 3), NumberColumn("idle_us", 3), TextColumn("source"),
                  IntColumn("captured"), IntColumn("members")});
  const double e2e_us = NsToUs(sums.e2e_ns());
  Write(computing, e2e_us, rows);
  Write(communication, e2e_us, rows);
  if (sums.memory_ns > 0)
    Write(Top("Memory Copy(Not Overlapped) Time", sums.memory_ns), e2e_us, rows);
  Write(Top("Free Time", sums.free_ns), e2e_us, rows);
  Write(Top("E2E Time", sums.e2e_ns()), e2e_us, rows);
  answer.tables.push_back(rows.Take());
  return answer;
}

Result<MetricAnswer> OverallDetails(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  SL_ASSIGN_OR_RETURN(const std::string wanted, call.args.TextOr("path", kComputing));
  const KernelPaths paths = ClassifyKernels(*store);
  TableRows rows("overall_details",
                 {TextColumn("Name"), TextColumn("Type"), TextColumn("Accelerator Core"),
                  IntColumn("Start Time(ns)"), TimeColumn("Duration(us)"), TextColumn("Path"),
                  IntColumn("kernel")});
  for (size_t i = 0; i < paths.of_kernel.size(); ++i) {
    auto levels = paths.of_kernel[i].Levels();
    const int64_t begin_ns = store->kernels.begin_ns[i];
    const int64_t dur_ns = store->kernels.dur_ns[i];
    if (levels.empty() || begin_ns == store::kNone || dur_ns == store::kNone) continue;
    if (!range.Touches(begin_ns, EndNs(begin_ns, dur_ns))) continue;
    levels.insert(levels.begin(), kComputing);
    const std::string path = JoinPath(levels);
    if (path != wanted && !path.starts_with(wanted + " > ")) continue;
    rows.Add(store->Text(store->kernels.name[i]), store->Text(store->kernels.type[i]),
             store->Text(store->kernels.core[i]), AddNs(begin_ns, -origin_ns), dur_ns, path, i);
  }
  MetricAnswer answer;
  answer.definition = "insight.overall_metrics";
  answer.query = "SELECT * FROM kernels WHERE rank = " + std::to_string(store->info.rank);
  answer.tables.push_back(rows.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
