#include "readers/prof/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace steplens::readers::prof {

TaskIndex::TaskIndex(const std::vector<AscendTask>& tasks) {
  rows_.resize(tasks.size());
  std::iota(rows_.begin(), rows_.end(), 0);
  std::sort(rows_.begin(), rows_.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(tasks[a].key, a) < std::tie(tasks[b].key, b);
  });
  keys_.reserve(rows_.size());
  for (const uint32_t row : rows_) keys_.push_back(tasks[row].key);
}

std::span<const uint32_t> TaskIndex::Find(TaskKey key) const {
  const auto [first, last] = std::equal_range(keys_.begin(), keys_.end(), key);
  return std::span(rows_).subspan(static_cast<size_t>(first - keys_.begin()),
                                  static_cast<size_t>(last - first));
}

StringId CollectiveNames::Name(StringId op, uint64_t group, bool has_group, uint64_t begin,
                               bool is_recorded, uint64_t iteration) {
  const std::string name(strings_.Get(op));
  const bool is_aicpu = name.find("AicpuKernel") != name.npos;
  Counted& counted = groups_[{has_group ? group : 0, is_aicpu}];
  if (is_recorded && begin > counted.begin) {
    counted.begin = begin;
    ++counted.count;
  }
  const std::string digits = has_group ? fmt::to_string(group) : "N/A";
  const std::string_view tail =
      std::string_view(digits).substr(digits.size() > 3 ? digits.size() - 3 : 0);
  return strings_.Intern(fmt::format("{}_{}_{}_{}", name, tail, counted.count, iteration));
}

namespace {

struct SmallRun {
  uint32_t small;
  uint32_t task;
  uint64_t iteration;
};

CommTaskFacts FactsOf(const CommTaskInfo& info) {
  CommTaskFacts facts;
  facts.item = info.item;
  facts.group = info.group;
  facts.notify = info.notify;
  facts.size = info.size;
  facts.local_rank = info.local_rank;
  facts.remote_rank = info.remote_rank;
  facts.rank_size = info.rank_size;
  facts.data_type = info.data_type;
  facts.link = info.link;
  facts.transport = info.transport;
  facts.rdma = info.rdma;
  facts.estimated_us = info.estimated_us;
  return facts;
}

std::vector<SmallRun> FindRuns(const std::vector<AscendTask>& tasks, const TaskIndex& index,
                               const HostTasks& host, int64_t device_id) {
  std::vector<SmallRun> runs;
  for (size_t i = 0; i < host.small_ops.size(); ++i) {
    if (host.small_ops[i].device != device_id) continue;
    uint64_t iteration = 0;
    for (const uint32_t task : index.Find(host.small_ops[i].key))
      runs.push_back({static_cast<uint32_t>(i), task, ++iteration});
  }
  std::stable_sort(runs.begin(), runs.end(), [&](const SmallRun& a, const SmallRun& b) {
    return std::tie(host.small_ops[a.small].time, tasks[a.task].begin_ns) <
           std::tie(host.small_ops[b.small].time, tasks[b.task].begin_ns);
  });
  return runs;
}

Collective DescribeOp(const BigOp& big, const HostRecords& records) {
  Collective op;
  op.type = big.type;
  op.has_type = big.has_type;
  op.connection = big.connection;
  op.kernel_connection = big.kernel_connection;
  op.model = big.model;
  if (big.info == kNoRow) return op;
  const CommOpInfo& info = records.comm_ops[big.info];
  op.has_info = true;
  op.data_type = info.data_type;
  op.algorithm = info.algorithm;
  op.count = info.count;
  op.is_relay = info.is_relay;
  op.is_retry = info.is_retry;
  op.group = info.group;
  op.has_group = true;
  return op;
}

}  // namespace

Collectives AssembleCollectives(const std::vector<AscendTask>& tasks, const TaskIndex& index,
                                const HostTasks& host, const HostRecords& records,
                                int64_t device_id, const SideClock& clock, StringPool& strings,
                                Dictionary& names) {
  Collectives out;
  CollectiveNames op_names(strings);
  std::unordered_map<uint32_t, size_t> rows;  // name -> its row in out.ops
  for (const SmallRun& small_run : FindRuns(tasks, index, host, device_id)) {
    const SmallOp& small = host.small_ops[small_run.small];
    const BigOp& big = host.big_ops[small.big];
    const AscendTask& task = tasks[small_run.task];
    CommRun run;
    run.task = small_run.task;
    run.is_master = small.is_master;
    Collective op = DescribeOp(big, records);
    run.group = op.group;
    run.has_group = op.has_group;
    if (small.info != kNoRow) {
      const CommTaskInfo& info = records.comm_tasks[small.info];
      run.facts = FactsOf(info);
      run.has_facts = true;
      run.group = info.group;
      run.has_group = true;
      run.plane = info.plane == ~uint32_t{0} ? kNoPlane : int64_t{info.plane};
    }
    run.op_name = op_names.Name(names.Hash(big.name), run.group, run.has_group, big.begin,
                                task.begin_ns > clock.begin_ns, small_run.iteration);
    out.tasks.push_back(run);
    if (!run.is_master) continue;
    const auto [place, is_new] =
        rows.try_emplace(static_cast<uint32_t>(run.op_name), out.ops.size());
    if (is_new) {
      op.name = run.op_name;
      op.begin_ns = task.begin_ns;
      op.end_ns = task.end_ns;
      op.rank_size = run.facts.rank_size;
      if (!op.has_group && run.has_group) {
        op.group = run.group;
        op.has_group = true;
      }
      out.ops.push_back(op);
    } else {
      Collective& row = out.ops[place->second];
      row.begin_ns = std::min(row.begin_ns, task.begin_ns);
      row.end_ns = std::max(row.end_ns, task.end_ns);
      if (run.has_facts) row.rank_size = run.facts.rank_size;
    }
  }
  std::stable_sort(out.ops.begin(), out.ops.end(), [](const Collective& a, const Collective& b) {
    return a.begin_ns < b.begin_ns;
  });
  return out;
}

}  // namespace steplens::readers::prof
