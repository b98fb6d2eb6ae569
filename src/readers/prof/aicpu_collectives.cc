#include "readers/prof/aicpu_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "format/prof/host_records.h"
#include "readers/prof/enum_names.h"

namespace steplens::readers::prof {
namespace {

namespace raw = format::prof;

// A kernel of AI CPU that carries out a collective.
struct AicpuKernel {
  uint32_t task = kNoRow;  // AscendTask
  uint32_t stream = 0;
  uint64_t group = 0;
  bool has_group = false;
  bool is_hccl = false;  // AI CPU says which collective it is
  const AicpuOp* info = nullptr;
  int64_t begin_ns = 0;  // of the collective
  int64_t end_ns = 0;
  size_t collective = 0;  // row of Collectives::ops that its tasks join; kNoCollective
  StringId name = StringId::kEmpty;
};
constexpr size_t kNoCollective = ~size_t{0};

class AicpuAssembler {
 public:
  AicpuAssembler(const std::vector<AscendTask>& tasks, const TaskIndex& index,
                 const HostTasks& host, const HostRecords& records, const AicpuRecords& aicpu,
                 const SideClock& clock, StringPool& strings, Dictionary& names, Collectives& out)
      : tasks_(tasks),
        index_(index),
        host_(host),
        aicpu_(aicpu),
        clock_(clock),
        strings_(strings),
        names_(names),
        out_(out) {
    for (const AicpuGroup& group : records.aicpu_groups) {
      kernel_streams_[group.kernel_stream] = group.group;
      for (const uint32_t stream : group.streams) task_streams_[stream].insert(group.group);
    }
  }

  void Add() {
    if (kernel_streams_.empty() && aicpu_.tasks.empty()) return;
    FindKernels();
    DescribeKernels();
    NameKernels();
    AddTasks();
  }

 private:
  bool IsKernel(const AscendTask& task) {
    if (task.host == kNoRow) return false;
    const HostTask& host = host_.tasks[task.host];
    if (host.op == kNoRow || host.type == raw::kTaskNotifyWait ||
        host.type == raw::kTaskMemcpyAsync) {
      return false;
    }
    const std::string_view name = names_.HashText(host_.ops[host.op].name);
    if (name == "hcomAicpuInit") return false;
    return kernel_streams_.contains(StreamOf(task.key)) || name.ends_with("AicpuKernel");
  }

  void FindKernels() {
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (!IsKernel(tasks_[i])) continue;
      AicpuKernel& kernel = kernels_.emplace_back();
      kernel.task = static_cast<uint32_t>(i);
      kernel.stream = StreamOf(tasks_[i].key);
      kernel.begin_ns = tasks_[i].begin_ns;
      kernel.end_ns = tasks_[i].end_ns;
      kernel.collective = kNoCollective;
      if (const auto group = kernel_streams_.find(kernel.stream); group != kernel_streams_.end()) {
        kernel.group = group->second;
        kernel.has_group = true;
      }
    }
  }

  // Which collective it is, and when that began and ended on its main stream.
  void DescribeKernels() {
    std::map<uint32_t, std::vector<const AicpuOp*>> ops;
    for (const AicpuOp& op : aicpu_.ops) ops[op.stream].push_back(&op);
    for (auto& [stream, list] : ops) {
      std::stable_sort(list.begin(), list.end(),
                       [](const AicpuOp* a, const AicpuOp* b) { return a->time < b->time; });
    }
    std::map<uint32_t, std::vector<const AicpuFlag*>> flags;
    for (const AicpuFlag& flag : aicpu_.flags) flags[flag.kernel_stream].push_back(&flag);
    for (auto& [stream, list] : flags) {
      std::stable_sort(list.begin(), list.end(),
                       [](const AicpuFlag* a, const AicpuFlag* b) { return a->time < b->time; });
    }
    std::map<uint32_t, size_t> next;
    for (AicpuKernel& kernel : kernels_) {
      const AscendTask& task = tasks_[kernel.task];
      if (const auto found = ops.find(kernel.stream); found != ops.end()) {
        kernel.is_hccl = true;
        size_t& at = next[kernel.stream];
        while (at < found->second.size() && found->second[at]->time < task.begin) ++at;
        if (at < found->second.size() && found->second[at]->time <= task.end) {
          kernel.info = found->second[at++];
          kernel.group = kernel.info->group;
          kernel.has_group = true;
        }
      }
      TakeInterval(kernel, flags[kernel.stream]);
    }
  }

  // The flags are those of the kernel's stream, by time.
  void TakeInterval(AicpuKernel& kernel, const std::vector<const AicpuFlag*>& flags) {
    const AscendTask& task = tasks_[kernel.task];
    auto at =
        std::lower_bound(flags.begin(), flags.end(), task.begin,
                         [](const AicpuFlag* flag, uint64_t begin) { return flag->time < begin; });
    for (; at != flags.end() && (*at)->time <= task.end; ++at) {
      const AicpuFlag& flag = **at;
      const uint32_t run = FindRun(flag.stream, flag.task, task);
      if (run == kNoRow) continue;
      if (flag.is_first) {
        kernel.begin_ns = tasks_[run].begin_ns;
        first_tasks_.insert(run);
      }
      kernel.end_ns = tasks_[run].end_ns;
      if (kernel.has_group) main_streams_.insert({kernel.group, flag.stream});
    }
  }

  // The run of a task while a kernel ran.
  uint32_t FindRun(uint32_t stream, uint32_t task, const AscendTask& kernel) const {
    // How often the stream's ids had begun again is not in the record.
    for (uint32_t batch = 0; batch <= max_batch(); ++batch) {
      for (const uint32_t run : index_.Find(MakeTaskKey(stream, batch, task, kNoContext))) {
        if (tasks_[run].end >= kernel.begin && tasks_[run].begin <= kernel.end) return run;
      }
    }
    return kNoRow;
  }

  uint32_t max_batch() const {
    if (!max_batch_) {
      uint32_t most = 0;
      for (const AscendTask& task : tasks_) most = std::max(most, BatchOf(task.key));
      max_batch_ = most;
    }
    return *max_batch_;
  }

  void NameKernels() {
    std::map<uint32_t, std::vector<size_t>> by_call;  // connection of a kernel -> collectives
    for (size_t i = 0; i < out_.ops.size(); ++i) {
      if (out_.ops[i].kernel_connection != 0) by_call[out_.ops[i].kernel_connection].push_back(i);
    }
    CollectiveNames op_names(strings_);
    std::map<TaskKey, uint64_t> runs;
    for (AicpuKernel& kernel : kernels_) {
      const AscendTask& task = tasks_[kernel.task];
      const HostTask& host = host_.tasks[task.host];
      const uint64_t iteration = ++runs[task.key];
      const auto calls = by_call.find(host.connection);
      if (kernel.is_hccl && calls != by_call.end()) {
        const size_t place = std::min<size_t>(iteration, calls->second.size()) - 1;
        kernel.collective = calls->second[place];
        kernel.name = out_.ops[kernel.collective].name;
        continue;
      }
      const ComputeOp& op = host_.ops[host.op];
      const bool is_comm =
          op.has_task_type && (op.task_type == kOpCommunication || op.task_type == kOpHcclAiCpu);
      const StringId name = is_comm ? strings_.Intern("N/A") : names_.Hash(op.name);
      kernel.name = op_names.Name(name, kernel.group, kernel.has_group, host.time,
                                  task.begin_ns > clock_.begin_ns, iteration);
    }
  }

  // Tasks of the streams that kernels use.
  struct StreamRun {
    uint32_t task;
    const AicpuTask* info;
    uint64_t group;
  };

  std::vector<StreamRun> FindTasks() const {
    std::vector<StreamRun> runs;
    for (const AicpuTask& info : aicpu_.tasks) {
      for (const uint32_t run :
           index_.Find(MakeTaskKey(info.stream, info.batch, info.task, kNoContext)))
        runs.push_back({run, &info, info.facts.group});
    }
    if (aicpu_.tasks.empty()) {
      for (size_t i = 0; i < tasks_.size(); ++i) {
        const auto groups = task_streams_.find(StreamOf(tasks_[i].key));
        if (groups == task_streams_.end()) continue;
        for (const uint64_t group : groups->second)
          runs.push_back({static_cast<uint32_t>(i), nullptr, group});
      }
    }
    std::stable_sort(runs.begin(), runs.end(), [&](const StreamRun& a, const StreamRun& b) {
      return tasks_[a.task].end_ns < tasks_[b.task].end_ns;
    });
    return runs;
  }

  void AddTasks() {
    std::map<uint64_t, std::vector<const AicpuKernel*>> groups;
    for (const AicpuKernel& kernel : kernels_) {
      if (kernel.has_group) groups[kernel.group].push_back(&kernel);
    }
    const std::vector<StreamRun> runs = FindTasks();
    for (const StreamRun& run : runs) {
      if (tasks_[run.task].type == kSqeCCore)
        main_streams_.insert({run.group, StreamOf(tasks_[run.task].key)});
    }
    std::map<uint64_t, size_t> next;  // group -> its kernel that the next task may belong to
    for (const StreamRun& run : runs) {
      const auto group = groups.find(run.group);
      if (group == groups.end()) continue;
      const AscendTask& task = tasks_[run.task];
      size_t& at = next[run.group];
      while (at < group->second.size() && group->second[at]->end_ns < task.end_ns) ++at;
      if (at == group->second.size()) continue;
      const AicpuKernel& kernel = *group->second[at];
      if (task.end_ns < kernel.begin_ns) continue;
      AddTask(run, kernel);
    }
  }

  void AddTask(const StreamRun& run, const AicpuKernel& kernel) {
    const AscendTask& task = tasks_[run.task];
    const uint32_t stream = StreamOf(task.key);
    const bool is_main = main_streams_.contains({run.group, stream});
    const bool is_mark = task.type == kSqeCCore || first_tasks_.contains(run.task);
    CommRun row;
    row.task = run.task;
    row.op_name = kernel.name;
    row.group = run.group;
    row.has_group = true;
    row.is_aicpu = kernel.collective == kNoCollective;
    row.is_master = is_mark ? !kernel.is_hccl : is_main;
    if (run.info != nullptr) {
      row.has_facts = true;
      row.facts = run.info->facts;
      row.plane = PlaneOf(run.group, stream, is_main, kernel.is_hccl);
    }
    out_.tasks.push_back(row);
    if (kernel.collective == kNoCollective && row.is_master) Widen(kernel, task);
  }

  int64_t PlaneOf(uint64_t group, uint32_t stream, bool is_main, bool is_hccl) {
    const int64_t first = is_hccl ? 1 : 0;
    if (is_main) return first;
    auto& streams = planes_[group];
    const auto place = streams.try_emplace(stream, static_cast<int64_t>(streams.size()) + 1).first;
    return first + place->second;
  }

  // A collective of its own lasts from the first to the last task of its main stream.
  void Widen(const AicpuKernel& kernel, const AscendTask& task) {
    const auto [place, is_new] = own_.try_emplace(kernel.task, out_.ops.size());
    if (!is_new) {
      Collective& op = out_.ops[place->second];
      op.begin_ns = std::min(op.begin_ns, task.begin_ns);
      op.end_ns = std::max(op.end_ns, task.end_ns);
      return;
    }
    const HostTask& host = host_.tasks[tasks_[kernel.task].host];
    const ComputeOp& compute = host_.ops[host.op];
    Collective op;
    op.name = kernel.name;
    op.begin_ns = task.begin_ns;
    op.end_ns = task.end_ns;
    op.type = compute.type;
    op.has_type = compute.has_type;
    op.group = kernel.group;
    op.has_group = kernel.has_group;
    op.is_aicpu = true;
    op.connection = host.connection;
    op.model = host.model;
    if (kernel.info != nullptr) {
      op.has_info = true;
      op.data_type = kernel.info->data_type;
      op.algorithm = kernel.info->algorithm;
      op.count = kernel.info->count;
    }
    out_.ops.push_back(op);
  }

  const std::vector<AscendTask>& tasks_;
  const TaskIndex& index_;
  const HostTasks& host_;
  const AicpuRecords& aicpu_;
  const SideClock& clock_;
  StringPool& strings_;
  Dictionary& names_;
  Collectives& out_;
  std::map<uint32_t, uint64_t> kernel_streams_;           // -> group
  std::map<uint32_t, std::set<uint64_t>> task_streams_;   // -> groups
  std::vector<AicpuKernel> kernels_;                      // by begin
  std::set<uint32_t> first_tasks_;                        // rows of tasks
  std::set<std::pair<uint64_t, uint32_t>> main_streams_;  // group and stream
  std::map<uint64_t, std::map<uint32_t, int64_t>> planes_;
  std::map<uint32_t, size_t> own_;  // kernel -> its collective
  mutable std::optional<uint32_t> max_batch_;
};

}  // namespace

void AddAicpuCollectives(const std::vector<AscendTask>& tasks, const TaskIndex& index,
                         const HostTasks& host, const HostRecords& records,
                         const AicpuRecords& aicpu, const SideClock& clock, StringPool& strings,
                         Dictionary& names, Collectives& collectives) {
  AicpuAssembler(tasks, index, host, records, aicpu, clock, strings, names, collectives).Add();
}

}  // namespace steplens::readers::prof
