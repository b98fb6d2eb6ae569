#include <algorithm>
#include <map>
#include <set>

#include "analysis/cells.h"
#include "analysis/classify/classify.h"
#include "analysis/parallel/rl_config.h"
#include "analysis/parallel/rl_fsdp.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

// The RL page: tasks of a reinforcement learning loop on the ranks, found by the names of marks.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

struct Batch {
  bool is_forward;
  int64_t begin_ns;
  int64_t end_ns;
};

struct TaskRun {
  int64_t rank = 0;
  const RlTask* task = nullptr;
  int64_t iteration = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::vector<Batch> batches{};
};

struct MarkedSpan {
  uint32_t track;
  int64_t begin_ns;
  int64_t end_ns;
};

// The ranges of some names on the host, by begin; inside one another only the outermost.
std::vector<MarkedSpan> Outermost(const TraceStore& store, const std::vector<TrackKind>& kinds,
                                  const std::vector<std::string>& names) {
  std::set<StringId> wanted;
  for (const std::string& name : names) {
    if (const auto id = store.strings.Find(name)) wanted.insert(*id);
  }
  std::vector<MarkedSpan> spans;
  if (wanted.empty()) return spans;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    if (!wanted.contains(store.slices.name[i])) continue;
    const auto track = static_cast<size_t>(store.slices.track[i]);
    const TrackKind kind = track < kinds.size() ? kinds[track] : TrackKind::kOther;
    // A mark has a copy on the device; what the loop does is told by the host.
    if (kind != TrackKind::kHost && kind != TrackKind::kOther && kind != TrackKind::kCann) continue;
    const int64_t begin_ns = store.slices.begin_ns[i];
    spans.push_back(
        {static_cast<uint32_t>(track), begin_ns, EndNs(begin_ns, store.slices.dur_ns[i])});
  }
  std::sort(spans.begin(), spans.end(), [](const MarkedSpan& a, const MarkedSpan& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  std::map<uint32_t, int64_t> reach_ns;  // by track
  std::erase_if(spans, [&](const MarkedSpan& span) {
    int64_t& reach = reach_ns.try_emplace(span.track, INT64_MIN).first->second;
    if (span.end_ns <= reach) return true;
    reach = span.end_ns;
    return false;
  });
  return spans;
}

bool Holds(const TaskRun& run, const MarkedSpan& span) {
  return span.begin_ns >= run.begin_ns && span.end_ns <= run.end_ns;
}

// A forward pass is a range; a backward pass is as many layers as the forward passes before it had
// inside, taken together.
void FindBatches(const std::vector<MarkedSpan>& forward, const std::vector<MarkedSpan>& layers,
                 TaskRun& run) {
  size_t layers_a_pass = 0;
  for (const MarkedSpan& pass : forward) {
    if (!Holds(run, pass)) continue;
    run.batches.push_back({true, pass.begin_ns, pass.end_ns});
    const auto inside = std::count_if(layers.begin(), layers.end(), [&](const MarkedSpan& layer) {
      return layer.begin_ns >= pass.begin_ns && layer.end_ns <= pass.end_ns;
    });
    layers_a_pass = std::max(layers_a_pass, static_cast<size_t>(inside));
  }
  const size_t forwards = run.batches.size();
  size_t taken = 0;
  for (const MarkedSpan& layer : layers) {
    if (!Holds(run, layer)) continue;
    const bool is_forward =
        std::any_of(run.batches.begin(), run.batches.begin() + static_cast<ptrdiff_t>(forwards),
                    [&](const Batch& pass) {
                      return layer.begin_ns >= pass.begin_ns && layer.end_ns <= pass.end_ns;
                    });
    if (is_forward) continue;
    if (taken % std::max<size_t>(1, layers_a_pass) == 0) {
      run.batches.push_back({false, layer.begin_ns, layer.end_ns});
    } else {
      run.batches.back().end_ns = std::max(run.batches.back().end_ns, layer.end_ns);
    }
    ++taken;
  }
  std::stable_sort(run.batches.begin(), run.batches.end(),
                   [](const Batch& a, const Batch& b) { return a.begin_ns < b.begin_ns; });
}

std::vector<TaskRun> FindRuns(const TraceStore& store, const RlFramework& framework) {
  const std::vector<TrackKind> kinds = ClassifyTracks(store);
  const std::vector<FsdpPass> fsdp = FindFsdpPasses(store, kinds);
  std::vector<TaskRun> out;
  for (const RlTask& task : framework.tasks) {
    const std::vector<MarkedSpan> forward = Outermost(store, kinds, task.forward);
    const std::vector<MarkedSpan> layers = Outermost(store, kinds, task.backward);
    for (const MarkedSpan& span : Outermost(store, kinds, {task.name})) {
      TaskRun run{store.info.rank, &task, 0, span.begin_ns, span.end_ns};
      FindBatches(forward, layers, run);
      // Without Megatron's marks: what FSDP and autograd say.
      for (const FsdpPass& pass : run.batches.empty() ? fsdp : std::vector<FsdpPass>{}) {
        if (pass.begin_ns >= run.begin_ns && pass.end_ns <= run.end_ns)
          run.batches.push_back({pass.is_forward, pass.begin_ns, pass.end_ns});
      }
      out.push_back(std::move(run));
    }
  }
  return out;
}

// By begin. An iteration begins where the task that the job began with comes again after another.
void NumberIterations(std::vector<TaskRun>& runs) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const TaskRun& a, const TaskRun& b) { return a.begin_ns < b.begin_ns; });
  int64_t iteration = 0;
  bool has_gone_on = false;
  for (TaskRun& run : runs) {
    const bool is_first = run.task == runs.front().task;
    if (is_first && has_gone_on) {
      ++iteration;
      has_gone_on = false;
    }
    has_gone_on = has_gone_on || !is_first;
    run.iteration = iteration;
  }
}

table::Table TaskTable(const std::vector<TaskRun>& runs, int64_t origin_ns) {
  TableRows rows("tasks", {IntColumn("rank"), TextColumn("role"), TextColumn("task"),
                           IntColumn("iteration"), IntColumn("start_ns"), IntColumn("end_ns")});
  for (const TaskRun& run : runs) {
    rows.Add(run.rank, run.task->role, run.task->name, run.iteration,
             AddNs(run.begin_ns, -origin_ns), AddNs(run.end_ns, -origin_ns));
  }
  return rows.Take();
}

table::Table BatchTable(const std::vector<TaskRun>& runs, int64_t origin_ns) {
  TableRows rows("batches", {IntColumn("rank"), TextColumn("task"), IntColumn("iteration"),
                             TextColumn("type"), IntColumn("start_ns"), IntColumn("end_ns")});
  for (const TaskRun& run : runs) {
    for (const Batch& batch : run.batches) {
      rows.Add(run.rank, run.task->name, run.iteration, batch.is_forward ? "FP" : "BP",
               AddNs(batch.begin_ns, -origin_ns), AddNs(batch.end_ns, -origin_ns));
    }
  }
  return rows.Take();
}

// A task of an iteration over all ranks.
struct Shared {
  const RlTask* task = nullptr;
  std::map<int64_t, int64_t> rank_ns{};  // what each rank spends in it
  int64_t begin_ns = INT64_MAX;
  int64_t end_ns = INT64_MIN;
};

table::Table IterationTable(const std::vector<TaskRun>& runs, int64_t origin_ns) {
  TableRows rows("iterations", {IntColumn("iteration"), TextColumn("role"), TextColumn("task"),
                                IntColumn("ranks"), IntColumn("start_ns"), IntColumn("end_ns"),
                                TimeColumn("avg_us"), TimeColumn("max_us"),
                                IntColumn("slowest_rank"), NumberColumn("share", 2)});
  std::map<int64_t, std::vector<Shared>> iterations;  // tasks in order of begin
  for (const TaskRun& run : runs) {
    std::vector<Shared>& tasks = iterations[run.iteration];
    auto at = std::find_if(tasks.begin(), tasks.end(),
                           [&](const Shared& one) { return one.task == run.task; });
    if (at == tasks.end()) at = tasks.insert(tasks.end(), {run.task});
    at->rank_ns[run.rank] =
        AddNs(at->rank_ns[run.rank], SubtractSaturating(run.end_ns, run.begin_ns));
    at->begin_ns = std::min(at->begin_ns, run.begin_ns);
    at->end_ns = std::max(at->end_ns, run.end_ns);
  }
  for (const auto& [iteration, tasks] : iterations) {
    int64_t begin_ns = INT64_MAX;
    int64_t end_ns = INT64_MIN;
    for (const Shared& one : tasks) {
      begin_ns = std::min(begin_ns, one.begin_ns);
      end_ns = std::max(end_ns, one.end_ns);
    }
    for (const Shared& one : tasks) {
      int64_t sum_ns = 0;
      auto slowest = one.rank_ns.begin();
      for (auto at = one.rank_ns.begin(); at != one.rank_ns.end(); ++at) {
        sum_ns += at->second;
        if (at->second > slowest->second) slowest = at;
      }
      const auto count = static_cast<int64_t>(one.rank_ns.size());
      rows.Add(iteration, one.task->role, one.task->name, count, AddNs(one.begin_ns, -origin_ns),
               AddNs(one.end_ns, -origin_ns), sum_ns / count, slowest->second, slowest->first,
               RoundTo(100 * Share(static_cast<double>(one.end_ns - one.begin_ns),
                                   static_cast<double>(end_ns - begin_ns)),
                       2));
    }
  }
  return rows.Take();
}

// Between the tasks of a rank; `runs` are by begin.
table::Table BubbleTable(const std::vector<TaskRun>& runs, int64_t origin_ns) {
  TableRows rows("bubbles", {IntColumn("rank"), IntColumn("iteration"), TextColumn("after"),
                             TextColumn("before"), IntColumn("start_ns"), IntColumn("end_ns")});
  std::map<int64_t, const TaskRun*> last;  // by rank: the run that reaches farthest
  for (const TaskRun& run : runs) {
    const TaskRun*& before = last[run.rank];
    if (before != nullptr && run.begin_ns > before->end_ns) {
      rows.Add(run.rank, run.iteration, before->task->name, run.task->name,
               AddNs(before->end_ns, -origin_ns), AddNs(run.begin_ns, -origin_ns));
    }
    if (before == nullptr || run.end_ns > before->end_ns) before = &run;
  }
  return rows.Take();
}

size_t DistinctTasks(const std::vector<TaskRun>& runs) {
  std::set<const RlTask*> tasks;
  for (const TaskRun& run : runs) tasks.insert(run.task);
  return tasks.size();
}

}  // namespace

Result<MetricAnswer> Rl(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  SL_ASSIGN_OR_RETURN(const std::vector<int64_t> listed, call.args.IntList("ranks"));
  SL_ASSIGN_OR_RETURN(const std::string config, call.args.TextOr("config", ""));
  std::vector<RlFramework> frameworks = KnownRlFrameworks();
  if (!config.empty()) {
    SL_ASSIGN_OR_RETURN(frameworks, ParseRlConfig(config));
  }
  TableRows known("frameworks", {TextColumn("framework"), TextColumn("algorithm"),
                                 IntColumn("tasks"), IntColumn("chosen")});
  // The framework of most kinds of tasks is the one that runs.
  std::vector<std::vector<TaskRun>> found;
  size_t best = 0;
  for (const RlFramework& framework : frameworks) {
    std::vector<TaskRun>& runs = found.emplace_back();
    for (const TraceStore& rank : call.job.ranks) {
      SL_RETURN_IF_ERROR(StillWanted());
      if (!listed.empty() && !std::binary_search(listed.begin(), listed.end(), rank.info.rank))
        continue;
      for (TaskRun& run : FindRuns(rank, framework)) runs.push_back(std::move(run));
    }
    if (DistinctTasks(runs) > DistinctTasks(found[best])) best = found.size() - 1;
  }
  for (size_t i = 0; i < frameworks.size(); ++i) {
    known.Add(frameworks[i].framework, frameworks[i].algorithm, DistinctTasks(found[i]),
              i == best && !found[best].empty() ? 1 : 0);
  }
  std::vector<TaskRun>& runs = found[best];
  NumberIterations(runs);
  MetricAnswer answer;
  answer.definition = "insight.rl";
  answer.tables.push_back(TaskTable(runs, origin_ns));
  answer.tables.push_back(BatchTable(runs, origin_ns));
  answer.tables.push_back(IterationTable(runs, origin_ns));
  answer.tables.push_back(BubbleTable(runs, origin_ns));
  answer.tables.push_back(known.Take());
  if (runs.empty()) answer.warnings.push_back(Message{"warning.no_rl_tasks"});
  return answer;
}

}  // namespace steplens::analysis::viewer
