#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analysis/classify/text_memo.h"
#include "analysis/classify/wait_kind.h"
#include "analysis/whatif/rank_graph.h"

// What the start of a task on the device waits for.

namespace steplens::analysis {
namespace {

constexpr int64_t kClockNs = 1000;     // clocks are compared to a microsecond
constexpr int64_t kAtOnceNs = 20'000;  // a task that starts so soon after another followed it

bool HasPrefix(std::string_view name, std::string_view library, std::string_view rest) {
  return name.starts_with(library) && name.substr(library.size()).starts_with(rest);
}

enum class EventCall : uint8_t { kNone, kRecord, kWait };

EventCall EventCallOf(std::string_view name) {
  for (const std::string_view library : {"cuda", "hip", "musa", "xpu"}) {
    if (HasPrefix(name, library, "EventRecord")) return EventCall::kRecord;
    if (HasPrefix(name, library, "StreamWaitEvent")) return EventCall::kWait;
  }
  return EventCall::kNone;
}

}  // namespace

// Tasks follow each other on a stream, and come after the call that launched them.
void RankGraph::LinkTasks() {
  for (uint32_t i = 0; i < tasks_.size(); ++i) {
    const DeviceTask& task = tasks_[i];
    const uint32_t node = task_node_[i];
    const uint32_t begin = out_.node(node).begin;
    bool has_cause = false;
    ready_ns_[i] = INT64_MIN;
    if (i > 0 && tasks_[i - 1].track == task.track) {
      const DeviceTask& before = tasks_[i - 1];
      const GraphNode& before_node = out_.node(task_node_[i - 1]);
      // Tasks that overlap on a stream started one after the other.
      const bool overlaps = before.end_ns > task.begin_ns;
      out_.After(overlaps ? before_node.begin : before_node.end, begin, EdgeKind::kStream, node);
      ready_ns_[i] = overlaps ? before.begin_ns : before.end_ns;
      has_cause = true;
    }
    const uint32_t launch = LaunchPoint(task);
    if (launch != kNoIndex && out_.measured_ns(launch) <= Relative(task.begin_ns)) {
      out_.After(launch, begin, EdgeKind::kLaunch, node);
      const int64_t at_ns = out_.measured_ns(launch) + window_.begin_ns;
      is_launch_bound_[i] = at_ns >= ready_ns_[i];
      ready_ns_[i] = std::max(ready_ns_[i], at_ns);
      has_cause = true;
    }
    if (has_cause) continue;
    // Nothing before it inside the window.
    out_.Fixed(root_, begin, EdgeKind::kStart, node, Relative(task.begin_ns));
    ready_ns_[i] = task.begin_ns;
  }
}

uint32_t RankGraph::LastEndedElsewhere(const DeviceTask& task, int64_t since_ns,
                                       int64_t until_ns) const {
  const auto after =
      std::upper_bound(by_end_.begin(), by_end_.end(), until_ns,
                       [&](int64_t ts_ns, uint32_t i) { return ts_ns < tasks_[i].end_ns; });
  for (auto it = after; it != by_end_.begin();) {
    const DeviceTask& other = tasks_[*--it];
    if (other.end_ns < since_ns) break;
    if (other.track != task.track) return *it;
  }
  return kNoIndex;
}

// Ascend: the wait for an event is a task of its own, and so is the record that ends it.
void RankGraph::LinkEvents() {
  std::vector<uint32_t> records;
  TextMemo is_record(store_, IsEventRecord);
  for (uint32_t i = 0; i < tasks_.size(); ++i) {
    const auto slice = static_cast<size_t>(tasks_[i].slice);
    if (tasks_[i].kind == NodeKind::kMark && is_record(store_.slices.name[slice]))
      records.push_back(i);
  }
  std::stable_sort(records.begin(), records.end(),
                   [&](uint32_t a, uint32_t b) { return tasks_[a].end_ns < tasks_[b].end_ns; });
  for (uint32_t i = 0; i < tasks_.size(); ++i) {
    const DeviceTask& task = tasks_[i];
    if (task.kind != NodeKind::kEventWait) continue;
    const int64_t until_ns = task.end_ns + kClockNs;
    uint32_t cause = LastEndedElsewhere(task, task.begin_ns, until_ns);
    auto it = std::upper_bound(
        records.begin(), records.end(), until_ns,
        [&](int64_t ts_ns, uint32_t record) { return ts_ns < tasks_[record].end_ns; });
    while (it != records.begin()) {
      const uint32_t record = *--it;
      if (tasks_[record].track == task.track) continue;
      // A record inside the wait ends it; an earlier one is what the wait was for if nothing else
      // ended meanwhile.
      if (cause == kNoIndex || tasks_[record].end_ns >= tasks_[cause].end_ns) cause = record;
      break;
    }
    if (cause == kNoIndex) continue;
    out_.After(out_.node(task_node_[cause]).end, out_.node(task_node_[i]).end, EdgeKind::kEvent,
               task_node_[i], GraphBuilder::kUsual, kClockNs);
  }
}

// GPU: the calls that record an event and let a stream wait for it are known, the streams are not.
// A record marks what its thread launched last; a wait holds up the next launch on another stream.
void RankGraph::LinkGpuEvents() {
  if (rank_.platform() != Platform::kGpu) return;
  struct Call {
    int64_t begin_ns = 0;
    EventCall kind = EventCall::kNone;  // none: the launch of `task`
    uint32_t task = kNoIndex;
    store::TrackId track = store::kNoTrack;
  };
  std::vector<Call> calls;
  std::vector<EventCall> kind_of(store_.strings.size(), EventCall::kNone);
  for (uint32_t s = 0; s < store_.strings.size(); ++s)
    kind_of[s] = EventCallOf(store_.Text(static_cast<StringId>(s)));
  for (const HostLane& lane : host_.lanes()) {
    for (const HostSegment& segment : lane.segments) {
      if (segment.owner == store::kNoSlice) continue;
      const auto owner = static_cast<size_t>(segment.owner);
      const EventCall kind = kind_of[static_cast<size_t>(store_.slices.name[owner])];
      if (kind != EventCall::kNone) calls.push_back({segment.begin_ns, kind, kNoIndex, lane.track});
    }
  }
  if (calls.empty()) return;
  for (uint32_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].host_ns == store::kNone) continue;
    calls.push_back({tasks_[i].host_ns, EventCall::kNone, i, tasks_[i].host_track});
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Call& a, const Call& b) { return a.begin_ns < b.begin_ns; });
  std::map<store::TrackId, uint32_t> last_launch;            // by host track
  std::map<store::TrackId, bool> is_waiting;                 // by host track
  std::map<store::TrackId, std::vector<uint32_t>> recorded;  // by stream
  for (const Call& call : calls) {
    if (call.kind == EventCall::kRecord) {
      const auto last = last_launch.find(call.track);
      if (last != last_launch.end()) recorded[tasks_[last->second].track].push_back(last->second);
    } else if (call.kind == EventCall::kWait) {
      is_waiting[call.track] = true;
    } else {
      last_launch[call.track] = call.task;
      if (!is_waiting[call.track]) continue;
      const DeviceTask& task = tasks_[call.task];
      bool is_linked = false;
      for (const auto& [stream, marked] : recorded) {
        if (stream == task.track) continue;
        for (auto it = marked.rbegin(); it != marked.rend(); ++it) {
          const DeviceTask& cause = tasks_[*it];
          if (cause.end_ns > task.begin_ns + kClockNs) continue;
          out_.After(out_.node(task_node_[*it]).end, out_.node(task_node_[call.task]).begin,
                     EdgeKind::kEvent, task_node_[call.task], GraphBuilder::kUsual, kClockNs);
          ready_ns_[call.task] = std::max(ready_ns_[call.task], cause.end_ns);
          is_linked = true;
          break;
        }
      }
      is_waiting[call.track] = !is_linked && recorded.empty();
    }
  }
}

// A task that was launched long ago on a free stream, and starts as soon as a task elsewhere ends,
// waited for that one. Where a kind of task once waited so for a kind of collective, it does so
// each time, whether it had to wait or not.
void RankGraph::LinkByTime() {
  std::set<std::pair<StringId, StringId>> learned;  // names of the task and kinds of the collective
  std::map<StringId, std::vector<uint32_t>> by_kind;
  const auto kind_of = [&](uint32_t task) {
    const uint32_t row = tasks_[task].comm_op;
    const StringId type = store_.comm_ops.op_type[row];
    return type == StringId::kEmpty ? store_.comm_ops.name[row] : type;
  };
  for (const uint32_t i : by_end_) {
    if (tasks_[i].kind == NodeKind::kCollective) by_kind[kind_of(i)].push_back(i);
  }
  std::vector<bool> is_linked(tasks_.size(), false);
  const auto name_of = [&](const DeviceTask& task) {
    return task.slice == store::kNoSlice ? StringId::kEmpty
                                         : store_.slices.name[static_cast<size_t>(task.slice)];
  };
  const auto link = [&](uint32_t cause, uint32_t i) {
    out_.After(out_.node(task_node_[cause]).end, out_.node(task_node_[i]).begin,
               EdgeKind::kInferred, task_node_[i], GraphBuilder::kUsual, kClockNs);
    ready_ns_[i] = std::max(ready_ns_[i], tasks_[cause].end_ns);
  };
  for (uint32_t i = 0; i < tasks_.size(); ++i) {
    const DeviceTask& task = tasks_[i];
    if (task.begin_ns - ready_ns_[i] <= kAtOnceNs) continue;
    const uint32_t cause = LastEndedElsewhere(
        task, std::max(ready_ns_[i] + 1, task.begin_ns - kAtOnceNs), task.begin_ns + kClockNs);
    if (cause == kNoIndex) continue;
    link(cause, i);
    is_launch_bound_[i] = false;
    is_linked[i] = true;
    if (tasks_[cause].kind == NodeKind::kCollective) learned.emplace(name_of(task), kind_of(cause));
  }
  for (uint32_t i = 0; i < tasks_.size() && !learned.empty(); ++i) {
    const DeviceTask& task = tasks_[i];
    if (is_linked[i] || task.kind != NodeKind::kCompute) continue;
    const StringId name = name_of(task);
    for (auto it = learned.lower_bound({name, StringId::kEmpty});
         it != learned.end() && it->first == name; ++it) {
      const std::vector<uint32_t>& causes = by_kind[it->second];
      const auto after = std::upper_bound(
          causes.begin(), causes.end(), task.begin_ns,
          [&](int64_t ts_ns, uint32_t cause) { return ts_ns < tasks_[cause].end_ns; });
      if (after != causes.begin()) link(*(after - 1), i);
    }
  }
}

}  // namespace steplens::analysis
