#include <algorithm>
#include <map>

#include "analysis/cells.h"
#include "analysis/classify/classify.h"
#include "analysis/flows/flow_ends.h"
#include "analysis/nesting/nesting.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

// Operator dispatch: how long it takes from a call in Python to the launch on the device, through
// torch_npu's task queue.

namespace steplens::analysis::viewer {
namespace {

using store::kNone;
using store::kNoSlice;
using store::SliceId;
using store::TraceStore;

struct HostSpan {
  int64_t begin_ns = kNone;
  int64_t end_ns = kNone;
  bool exists() const { return begin_ns != kNone; }
  int64_t Length() const { return exists() ? end_ns - begin_ns : kNone; }
};

// One task of the queue.
struct Task {
  HostSpan enqueue;
  HostSpan dequeue;
  HostSpan launch;  // the first to the last launch it made
  std::string_view name;
  bool is_aclnn = false;

  // Where it left the host: its launch, else the queue.
  int64_t end_ns() const { return launch.exists() ? launch.end_ns : dequeue.end_ns; }
};

// A call of the framework with the tasks it queued.
struct Call {
  SliceId slice = kNoSlice;
  std::vector<Task> tasks;
};

class DispatchFinder {
 public:
  explicit DispatchFinder(const TraceStore& store)
      : store_(store),
        index_(BuildTrackIndex(store)),
        nesting_(ComputeNesting(store, index_)),
        ends_(ResolveFlowEnds(store, index_, nesting_)) {
    CollectLaunches();
  }

  // By begin.
  std::vector<Call> Find(const TimeRange& range) const {
    std::map<SliceId, Call> calls;
    for (size_t i = 0; i < store_.flows.size(); ++i) {
      const SliceId from = ends_.from_slice[i];
      const SliceId to = ends_.to_slice[i];
      if (store_.Text(store_.flows.kind[i]) != "async_task_queue") continue;
      if (from == kNoSlice || to == kNoSlice) continue;
      const HostSpan enqueue = SpanOf(from);
      if (!range.Touches(enqueue.begin_ns, enqueue.end_ns)) continue;
      const SliceId root = CallOf(from);
      Call& call = calls[root];
      call.slice = root;
      call.tasks.push_back(TaskOf(from, to));
    }
    std::vector<Call> out;
    for (auto& [root, call] : calls) {
      std::stable_sort(call.tasks.begin(), call.tasks.end(), [](const Task& a, const Task& b) {
        return a.enqueue.begin_ns < b.enqueue.begin_ns;
      });
      out.push_back(std::move(call));
    }
    std::stable_sort(out.begin(), out.end(), [&](const Call& a, const Call& b) {
      return SpanOf(a.slice).begin_ns < SpanOf(b.slice).begin_ns;
    });
    return out;
  }

  HostSpan SpanOf(SliceId slice) const {
    const auto row = static_cast<size_t>(slice);
    const int64_t begin_ns = store_.slices.begin_ns[row];
    return {begin_ns, EndNs(begin_ns, store_.slices.dur_ns[row])};
  }
  std::string_view NameOf(SliceId slice) const {
    return store_.Text(store_.slices.name[static_cast<size_t>(slice)]);
  }

 private:
  // Steps are marked like operators and are none.
  bool IsOperator(SliceId slice) const {
    return store_.Text(store_.slices.category[static_cast<size_t>(slice)]) == "cpu_op" &&
           !NameOf(slice).starts_with("ProfilerStep#");
  }
  // The outermost operator around the queueing; itself if there is none.
  SliceId CallOf(SliceId enqueue) const {
    SliceId call = enqueue;
    for (SliceId at = enqueue; at != kNoSlice; at = nesting_.parent[static_cast<size_t>(at)]) {
      if (IsOperator(at)) call = at;
    }
    return call;
  }
  Task TaskOf(SliceId enqueue, SliceId dequeue) const {
    Task task{SpanOf(enqueue), SpanOf(dequeue), {}, NameOf(enqueue)};
    // The innermost operator says what is queued.
    for (SliceId at = enqueue; at != kNoSlice; at = nesting_.parent[static_cast<size_t>(at)]) {
      if (!IsOperator(at)) continue;
      task.name = NameOf(at);
      break;
    }
    task.is_aclnn = task.name.starts_with("aclnn");
    const auto tid =
        store_.tracks.tid[static_cast<size_t>(store_.slices.track[static_cast<size_t>(dequeue)])];
    const auto launches = launches_.find(tid);
    if (launches == launches_.end()) return task;
    auto at =
        std::lower_bound(launches->second.begin(), launches->second.end(), task.dequeue.begin_ns,
                         [](const HostSpan& span, int64_t ns) { return span.begin_ns < ns; });
    for (; at != launches->second.end() && at->begin_ns < task.dequeue.end_ns; ++at) {
      if (!task.launch.exists()) task.launch = *at;
      task.launch.end_ns = std::max(task.launch.end_ns, at->end_ns);
    }
    return task;
  }
  // The launches of each thread, by begin.
  void CollectLaunches() {
    const std::vector<TrackKind> kinds = ClassifyTracks(store_);
    for (size_t i = 0; i < store_.slices.size(); ++i) {
      const auto track = static_cast<size_t>(store_.slices.track[i]);
      if (track >= kinds.size() || kinds[track] != TrackKind::kCann) continue;
      const std::string_view name = store_.Text(store_.slices.name[i]);
      if (!name.ends_with("launch")) continue;
      launches_[store_.tracks.tid[track]].push_back(SpanOf(static_cast<SliceId>(i)));
    }
    for (auto& [tid, spans] : launches_) {
      std::stable_sort(spans.begin(), spans.end(), [](const HostSpan& a, const HostSpan& b) {
        return a.begin_ns < b.begin_ns;
      });
    }
  }

  const TraceStore& store_;
  TrackIndex index_;
  Nesting nesting_;
  FlowEnds ends_;
  std::map<StringId, std::vector<HostSpan>> launches_;  // by thread id
};

int64_t Sum(int64_t a, int64_t b) { return b == kNone ? a : a == kNone ? b : AddNs(a, b); }

table::Table DispatchTable(const DispatchFinder& finder, const std::vector<Call>& calls,
                           int64_t origin_ns) {
  TableRows rows("dispatch",
                 {IntColumn("id"), IntColumn("parent"), TextColumn("Name"), TextColumn("Path"),
                  IntColumn("start_ns"), TimeColumn("Prepare(us)"), TimeColumn("Python API(us)"),
                  TimeColumn("Enqueue(us)"), TimeColumn("Queue(us)"), TimeColumn("Pipeline2(us)"),
                  TimeColumn("Launch(us)"), TimeColumn("E2E(us)")});
  int64_t id = 0;
  for (const Call& call : calls) {
    const HostSpan python = finder.SpanOf(call.slice);
    int64_t enqueue_ns = kNone;
    int64_t queue_ns = kNone;
    int64_t pipeline_ns = kNone;
    int64_t launch_ns = kNone;
    int64_t end_ns = python.begin_ns;
    bool is_aclnn = false;
    const auto queue_of = [](const Task& task) {
      return std::max<int64_t>(0, SubtractSaturating(task.dequeue.begin_ns, task.enqueue.end_ns));
    };
    for (const Task& task : call.tasks) {
      enqueue_ns = Sum(enqueue_ns, task.enqueue.Length());
      queue_ns = Sum(queue_ns, queue_of(task));
      pipeline_ns = Sum(pipeline_ns, task.end_ns() - task.dequeue.begin_ns);
      launch_ns = Sum(launch_ns, task.launch.Length());
      end_ns = std::max(end_ns, task.end_ns());
      is_aclnn = is_aclnn || task.is_aclnn;
    }
    const int64_t parent = ++id;
    rows.Add(parent, kNone, finder.NameOf(call.slice), is_aclnn ? "ACLNN" : "ACLOP",
             AddNs(python.begin_ns, -origin_ns),
             call.tasks.front().enqueue.begin_ns - python.begin_ns, python.Length(), enqueue_ns,
             queue_ns, pipeline_ns, launch_ns, end_ns - python.begin_ns);
    for (const Task& task : call.tasks) {
      rows.Add(++id, parent, task.name, task.is_aclnn ? "ACLNN" : "ACLOP",
               AddNs(task.enqueue.begin_ns, -origin_ns), task.enqueue.begin_ns - python.begin_ns,
               kNone, task.enqueue.Length(), queue_of(task), task.end_ns() - task.dequeue.begin_ns,
               task.launch.Length(), task.end_ns() - python.begin_ns);
    }
  }
  return rows.Take();
}

}  // namespace

Result<MetricAnswer> Dispatch(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const TimeRange range, RangeOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  const DispatchFinder finder(*store);
  MetricAnswer answer;
  answer.definition = "insight.dispatch";
  answer.query = "SELECT * FROM slices WHERE name IN ('Enqueue', 'Dequeue') AND rank = " +
                 std::to_string(store->info.rank);
  answer.tables.push_back(DispatchTable(finder, finder.Find(range), origin_ns));
  if (answer.tables.front().rows() == 0)
    answer.warnings.push_back(Message{"warning.no_task_queue"});
  return answer;
}

}  // namespace steplens::analysis::viewer
