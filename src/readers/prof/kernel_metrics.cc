#include "readers/prof/kernel_metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "readers/prof/enum_names.h"
#include "readers/prof/frequencies.h"
#include "readers/prof/pmu_metrics.h"

namespace steplens::readers::prof {
namespace {

template <typename Pmu>
TaskKey KeyOf(const Pmu& pmu) {
  return MakeTaskKey(pmu.stream, pmu.batch, pmu.task, pmu.context);
}

template <typename Pmu>
void SortPmu(std::vector<Pmu>& rows) {
  // In place: there are as many as tasks, and they are large.
  std::sort(rows.begin(), rows.end(), [](const Pmu& a, const Pmu& b) {
    const TaskKey a_key = KeyOf(a);
    const TaskKey b_key = KeyOf(b);
    return std::tie(a_key, a.time, a.cycles, a.counters) <
           std::tie(b_key, b.time, b.cycles, b.counters);
  });
}

class MetricTable {
 public:
  MetricTable(const Control& control, DeviceRecords& records, const std::vector<AscendTask>& tasks,
              const std::vector<ComputeOp>& ops, const std::vector<KernelRun>& runs)
      : control_(control),
        records_(records),
        tasks_(tasks),
        ops_(ops),
        runs_(runs),
        has_stars_(HasStars(control.chip)),
        aic_(CoreKind::kAic, control.aic, control, has_stars_),
        aiv_(CoreKind::kAiv, control.aiv, control, has_stars_),
        frequencies_(control.aic_mhz, records.frequencies) {
    names_ = aic_.names();
    if (has_stars_) names_.insert(names_.end(), aiv_.names().begin(), aiv_.names().end());
    if (!has_stars_ && aic_.mte2_column() >= 0) {
      bound_column_ = names_.size();
      names_.emplace_back("memory_bound");
    }
    if (aic_.has_mac_ratio()) {
      cube_column_ = names_.size();
      names_.emplace_back("cube_utilization(%)");
    }
    columns_.resize(names_.size());
    for (size_t i = 0; i < names_.size(); ++i) {
      columns_[i].name = names_[i];
      columns_[i].numbers.Reserve(runs.size());
      columns_[i].numbers.AppendUnknown(runs.size());
    }
  }

  std::vector<store::DynamicColumn> Make() {
    SortPmu(records_.pmu);
    SortPmu(records_.block_pmu);
    has_stars_ ? JoinByTime() : JoinByOrder();
    return std::move(columns_);
  }

 private:
  const AscendTask& Task(uint32_t run) const { return tasks_[runs_[run].task]; }

  // Runs of tasks, by key and begin.
  std::vector<uint32_t> OrderedRuns(bool with_batch) const {
    const auto key = [&](uint32_t run) {
      const TaskKey whole = Task(run).key;
      return with_batch ? whole : MakeTaskKey(StreamOf(whole), 0, TaskOf(whole), ContextOf(whole));
    };
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].task != kNoRow) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const TaskKey a_key = key(a);
      const TaskKey b_key = key(b);
      return std::tie(a_key, Task(a).begin, a) < std::tie(b_key, Task(b).begin, b);
    });
    return order;
  }

  // The counters of a run were read while it ran.
  void JoinByTime() {
    size_t pmu = 0;
    size_t block = 0;
    for (const uint32_t run : OrderedRuns(true)) {
      const AscendTask& task = Task(run);
      const std::vector<TaskPmu>& rows = records_.pmu;
      while (pmu < rows.size() && (KeyOf(rows[pmu]) < task.key ||
                                   (KeyOf(rows[pmu]) == task.key && rows[pmu].time < task.begin))) {
        ++pmu;
      }
      if (pmu == rows.size()) return;
      if (KeyOf(rows[pmu]) != task.key || rows[pmu].time > task.end) continue;
      Fill(run, rows[pmu], block);
      ++pmu;
    }
  }

  // Chips without times in their records: the k-th record of a task is that of its k-th run.
  void JoinByOrder() {
    size_t pmu = 0;
    for (const uint32_t run : OrderedRuns(false)) {
      const TaskKey whole = Task(run).key;
      const TaskKey key = MakeTaskKey(StreamOf(whole), 0, TaskOf(whole), ContextOf(whole));
      if (ops_[runs_[run].op].task_type == kOpAiCpu) continue;
      while (pmu < records_.pmu.size() && KeyOf(records_.pmu[pmu]) < key) ++pmu;
      if (pmu == records_.pmu.size()) return;
      if (KeyOf(records_.pmu[pmu]) == key) FillWithoutStars(run, records_.pmu[pmu++]);
    }
  }

  static CounterValues Values(uint64_t cycles, const std::array<uint64_t, kMaxCounters>& counters) {
    CounterValues values;
    values.cycles = static_cast<double>(cycles);
    for (size_t i = 0; i < counters.size(); ++i)
      values.counters[i] = static_cast<double>(counters[i]);
    return values;
  }

  void Store(uint32_t run, size_t first, const CoreMetrics& metrics, const CounterValues& values) {
    scratch_.resize(metrics.names().size());
    metrics.Evaluate(values, scratch_.data());
    for (size_t i = 0; i < scratch_.size(); ++i) columns_[first + i].numbers.Set(run, scratch_[i]);
  }

  void Fill(uint32_t run, const TaskPmu& pmu, size_t& block) {
    const ComputeOp& op = ops_[runs_[run].op];
    const double mhz = frequencies_.At(pmu.time);
    const bool is_aic =
        pmu.accelerator == Accelerator::kAic || pmu.accelerator == Accelerator::kMixAic;
    const bool is_mix =
        pmu.accelerator == Accelerator::kMixAic || pmu.accelerator == Accelerator::kMixAiv;
    CounterValues main = Values(pmu.cycles, pmu.counters);
    main.total_us =
        TotalTimeUs(main.cycles, mhz, op.blocks, is_aic ? control_.aic_cores : control_.aiv_cores);
    CounterValues other;
    if (is_mix) other = BlockValues(Task(run), pmu, op, is_aic, mhz, block);
    Store(run, 0, aic_, is_aic ? main : other);
    Store(run, aic_.names().size(), aiv_, is_aic ? other : main);
    FillCube(run, is_aic ? main : other);
  }

  // The part of a mixed kernel that ran on the other kind of cores.
  CounterValues BlockValues(const AscendTask& task, const TaskPmu& pmu, const ComputeOp& op,
                            bool is_main_aic, double mhz, size_t& block) {
    const std::vector<BlockPmu>& rows = records_.block_pmu;
    CounterValues sum;
    while (block < rows.size() && KeyOf(rows[block]) < task.key) ++block;
    uint32_t blocks = 0;
    for (size_t i = block; i < rows.size() && KeyOf(rows[i]) == task.key; ++i) {
      const BlockPmu& row = rows[i];
      if (row.accelerator != pmu.accelerator || row.is_vector_core != is_main_aic ||
          row.time < task.begin || row.time > task.end || blocks >= op.mix_blocks) {
        continue;
      }
      const CounterValues values = Values(row.cycles, row.counters);
      sum.cycles += values.cycles;
      for (size_t k = 0; k < sum.counters.size(); ++k) sum.counters[k] += values.counters[k];
      blocks += row.blocks;
    }
    sum.total_us = TotalTimeUs(sum.cycles, mhz, op.mix_blocks,
                               is_main_aic ? control_.aiv_cores : control_.aic_cores);
    return sum;
  }

  void FillWithoutStars(uint32_t run, const TaskPmu& pmu) {
    const ComputeOp& op = ops_[runs_[run].op];
    CounterValues values = Values(pmu.cycles, pmu.counters);
    const double total_us = TotalTimeUs(values.cycles, static_cast<double>(control_.aic_mhz),
                                        op.blocks, control_.aic_cores);
    values.total_us = std::round(total_us * 100) / 100;  // as the reference has it on these chips
    Store(run, 0, aic_, values);
    FillCube(run, values);
    if (bound_column_ == 0) return;
    const auto ratio = [&](int column) {
      return column < 0 ? 0.0 : columns_[static_cast<size_t>(column)].numbers[run];
    };
    const double busiest = std::max(ratio(aic_.mac_column()), ratio(aic_.vec_column()));
    const double mte2 = ratio(aic_.mte2_column());
    if (busiest > 0 && mte2 > 0) columns_[bound_column_].numbers.Set(run, mte2 / busiest);
  }

  void FillCube(uint32_t run, const CounterValues& aic) {
    if (cube_column_ == 0) return;
    const AscendTask& task = Task(run);
    const double duration_us = static_cast<double>(DurationNs(task.begin_ns, task.end_ns)) / 1000;
    const double cycles_per_us =
        static_cast<double>(control_.aic_mhz) * static_cast<double>(control_.aic_cores);
    if (cycles_per_us <= 0) return;
    columns_[cube_column_].numbers.Set(
        run, duration_us > 0 ? aic.cycles / cycles_per_us * 100 / duration_us : 0);
  }

  const Control& control_;
  DeviceRecords& records_;
  const std::vector<AscendTask>& tasks_;
  const std::vector<ComputeOp>& ops_;
  const std::vector<KernelRun>& runs_;
  bool has_stars_;
  CoreMetrics aic_;
  CoreMetrics aiv_;
  Frequencies frequencies_;
  std::vector<std::string> names_;
  std::vector<store::DynamicColumn> columns_;
  std::vector<double> scratch_;
  size_t bound_column_ = 0;  // 0: no such column
  size_t cube_column_ = 0;
};

}  // namespace

std::vector<store::DynamicColumn> MakeKernelMetrics(const Control& control, DeviceRecords& records,
                                                    const std::vector<AscendTask>& tasks,
                                                    const std::vector<ComputeOp>& ops,
                                                    const std::vector<KernelRun>& runs) {
  if (records.pmu.empty()) return {};
  return MetricTable(control, records, tasks, ops, runs).Make();
}

}  // namespace steplens::readers::prof
