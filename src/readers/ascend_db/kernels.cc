#include "readers/ascend_db/kernels.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace steplens::readers {
namespace {

using store::kNone;
using KernelRow = store::KernelTable::Row;

StringId WithoutQuotes(DbContext& db, StringId shapes) {
  std::string_view text = db.out.Text(shapes);
  if (!text.starts_with('"')) return shapes;
  text.remove_prefix(1);
  if (text.ends_with('"')) text.remove_suffix(1);
  return db.Intern(std::string(text));
}

Status ReadComputeInfos(DbContext& db, KernelInfos& infos) {
  // clang-format off
  enum Column : size_t {
    kTask, kName, kBlock, kMixBlock, kCore, kType, kState, kHf32, kInShapes, kInTypes, kInFormats,
    kOutShapes, kOutTypes, kOutFormats,
  };
  // clang-format on
  return ReadTable(
      db, "COMPUTE_TASK_INFO",
      {"globalTaskId", "name", "!blockNum|blockDim", "!mixBlockNum|mixBlockDim", "!taskType",
       "!opType", "?opState", "?hf32Eligible", "!inputShapes", "!inputDataTypes", "!inputFormats",
       "!outputShapes", "!outputDataTypes", "!outputFormats"},
      [&](Scan& scan) {
        const int64_t task = scan.Int(kTask);
        if (task == kNone) return false;
        infos.by_task.Add(task, static_cast<uint32_t>(infos.rows.size()));
        KernelRow& row = infos.rows.emplace_back();
        row.name = db.String(scan.Int(kName));
        row.type = db.KnownString(scan.Int(kType));
        row.core = db.KnownString(scan.Int(kCore));
        row.state = db.KnownString(scan.Int(kState));
        row.block_dim = scan.Int(kBlock);
        row.mix_block_dim = scan.Int(kMixBlock);
        row.hf32 = db.KnownString(scan.Int(kHf32));
        row.input_shapes = WithoutQuotes(db, db.KnownString(scan.Int(kInShapes)));
        row.input_types = db.KnownString(scan.Int(kInTypes));
        row.input_formats = db.KnownString(scan.Int(kInFormats));
        row.output_shapes = WithoutQuotes(db, db.KnownString(scan.Int(kOutShapes)));
        row.output_types = db.KnownString(scan.Int(kOutTypes));
        row.output_formats = db.KnownString(scan.Int(kOutFormats));
        return true;
      });
}

// Kernels that run a collective on AI CPU: kernel_details.csv lists them with the compute kernels.
Status ReadScheduleInfos(DbContext& db, KernelInfos& infos) {
  return ReadTable(db, "COMMUNICATION_SCHEDULE_TASK_INFO",
                   {"globalTaskId", "name", "!taskType", "!opType"}, [&](Scan& scan) {
                     const int64_t task = scan.Int(0);
                     if (task == kNone) return false;
                     infos.by_task.Add(task, static_cast<uint32_t>(infos.rows.size()));
                     KernelRow& row = infos.rows.emplace_back();
                     row.name = db.String(scan.Int(1));
                     row.core = db.KnownString(scan.Int(2));
                     row.type = db.KnownString(scan.Int(3));
                     return true;
                   });
}

// A kernel before it has its place; `task` is a row of the tasks, kNoRow for a collective.
struct Kernel {
  KernelRow row;
  uint32_t task = kNoRow;
};

std::vector<Kernel> JoinTasks(const DeviceTasks& tasks, const KernelInfos& infos) {
  std::vector<Kernel> kernels;
  for (size_t i = 0; i < tasks.rows.size(); ++i) {
    const TaskRow& task = tasks.rows[i];
    const uint32_t info = infos.by_task.Find(task.global_id);
    if (info == kNoRow) continue;
    Kernel& kernel = kernels.emplace_back(Kernel{infos.rows[info], static_cast<uint32_t>(i)});
    kernel.row.device = task.device;
    kernel.row.stream = task.stream;
    kernel.row.task_id = task.task_id;
    kernel.row.context_id = task.context_id;
    kernel.row.model_id = task.model_id;
    kernel.row.begin_ns = task.begin_ns;
    kernel.row.dur_ns = task.dur_ns;
    kernel.row.correlation = task.connection;
  }
  return kernels;
}

// Wait Time(us) of kernel_details.csv: the gap to the end of the row before, regardless of its
// stream.
void FillWaitTimes(std::vector<Kernel>& kernels) {
  for (size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].row.wait_ns = 0;
    if (i == 0) continue;
    const KernelRow& before = kernels[i - 1].row;
    kernels[i].row.wait_ns =
        std::max<int64_t>(0, kernels[i].row.begin_ns - before.begin_ns - before.dur_ns);
  }
}

// A metric as kernel_details.csv has it: its header, and what the db's value is divided by.
struct Metric {
  std::string header;
  double divisor = 1;
};

Metric DescribeMetric(std::string_view db_name) {
  constexpr double kNsPerUs = 1000;
  if (db_name == "aic_total_time") return {"aicore_time(us)", kNsPerUs};
  if (db_name == "aiv_total_time") return {"aiv_time(us)", kNsPerUs};
  const std::string name(db_name);
  if (db_name.ends_with("_time")) return {name + "(us)", kNsPerUs};
  if (db_name.find("_bw") != db_name.npos) return {name + "(GB/s)"};
  if (db_name.ends_with("_datas")) return {name + "(KB)"};
  return {name};
}

void PadTo(store::DynamicColumn& column, size_t rows) {
  while (column.size() < rows) {
    if (column.is_text()) {
      column.texts.Append(StringId::kEmpty);
    } else {
      column.numbers.Append(store::NotKnown<double>());
    }
  }
}

// Fills kernel_metrics. A task that a graph replays has several kernels and as many values of each
// metric, in the same order.
class MetricReader {
 public:
  // `kernel_of_task`: row of the tasks -> row of kernels, or kNoRow.
  MetricReader(DbContext& db, const DeviceTasks& tasks, const std::vector<uint32_t>& kernel_of_task)
      : db_(db), tasks_(tasks), kernel_of_task_(kernel_of_task) {}

  Status Read() {
    for (store::DynamicColumn& column : db_.out.kernel_metrics)
      PadTo(column, db_.out.kernels.size());
    return ReadTable(db_, "TASK_PMU_INFO", {"globalTaskId", "name", "value"}, [&](Scan& scan) {
      const int64_t global_id = scan.Int(0);
      const int64_t name_id = scan.Int(1);
      const uint32_t first_task = global_id == kNone ? kNoRow : tasks_.by_global_id.Find(global_id);
      const uint32_t first_kernel = first_task == kNoRow ? kNoRow : kernel_of_task_[first_task];
      if (first_kernel == kNoRow || name_id == kNone) return false;
      if (current_ == nullptr || name_id != current_name_) {
        if (targets_.size() >= kMaxMetrics && !targets_.contains(name_id)) return false;
        Select(name_id);
      }
      uint32_t& task = current_->next_task[first_kernel];
      if (task == kNoRow) task = first_task;
      db_.out.kernel_metrics[current_->column].numbers.Set(kernel_of_task_[task],
                                                           scan.Double(2) / current_->divisor);
      if (tasks_.next[task] != kNoRow) task = tasks_.next[task];
      return true;
    });
  }

 private:
  // Every metric has a column of all kernels. The largest groups have some forty.
  static constexpr size_t kMaxMetrics = 256;
  struct Target {
    size_t column;
    double divisor;
    std::vector<uint32_t> next_task;  // first kernel of a globalTaskId -> task the next value is of
  };

  void Select(int64_t name_id) {
    current_name_ = name_id;
    const auto [place, is_new] = targets_.try_emplace(name_id);
    current_ = &place->second;
    if (!is_new) return;
    const Metric metric = DescribeMetric(db_.out.Text(db_.String(name_id)));
    auto& columns = db_.out.kernel_metrics;
    const auto found =
        std::find_if(columns.begin(), columns.end(), [&](const store::DynamicColumn& column) {
          return column.name == metric.header && !column.is_text();
        });
    *current_ = {static_cast<size_t>(found - columns.begin()), metric.divisor,
                 std::vector<uint32_t>(db_.out.kernels.size(), kNoRow)};
    if (found != columns.end()) return;
    columns.emplace_back().name = metric.header;
    columns.back().numbers.Reserve(db_.out.kernels.size());
    PadTo(columns.back(), db_.out.kernels.size());
  }

  DbContext& db_;
  const DeviceTasks& tasks_;
  const std::vector<uint32_t>& kernel_of_task_;
  std::map<int64_t, Target> targets_;  // by the id of the metric's name
  Target* current_ = nullptr;
  int64_t current_name_ = kNone;
};

}  // namespace

Result<KernelInfos> ReadKernelInfos(DbContext& db) {
  KernelInfos infos;
  SL_RETURN_IF_ERROR(ReadScheduleInfos(db, infos));
  SL_RETURN_IF_ERROR(ReadComputeInfos(db, infos));
  infos.by_task.Build();
  return infos;
}

Status ReadKernels(DbContext& db, const DeviceTasks& tasks, const KernelInfos& infos,
                   const std::vector<KernelRow>& collectives) {
  std::vector<Kernel> kernels = JoinTasks(tasks, infos);
  for (const KernelRow& collective : collectives) kernels.push_back({collective, kNoRow});
  std::stable_sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) {
    return a.row.begin_ns < b.row.begin_ns;
  });
  FillWaitTimes(kernels);
  std::vector<uint32_t> kernel_of_task(tasks.rows.size(), kNoRow);
  db.out.kernels.Reserve(db.out.kernels.size() + kernels.size());
  for (const Kernel& kernel : kernels) {
    if (kernel.task != kNoRow)
      kernel_of_task[kernel.task] = static_cast<uint32_t>(db.out.kernels.size());
    db.out.kernels.Append(kernel.row);
  }
  return MetricReader(db, tasks, kernel_of_task).Read();
}

}  // namespace steplens::readers
