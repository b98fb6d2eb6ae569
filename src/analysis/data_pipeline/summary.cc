#include "analysis/data_pipeline/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>

#include "analysis/data_pipeline/advice.h"
#include "analysis/data_pipeline/op_use.h"

namespace steplens::analysis {
namespace {

using store::DataPipeline;
using store::PipelineOp;

double Rounded(double value, int digits) {
  const double scale = std::pow(10, digits);
  return std::round(value * scale) / scale;
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

const PipelineOp& OpOf(const DataPipeline& pipeline, int64_t id) {
  return *std::find_if(pipeline.ops.begin(), pipeline.ops.end(),
                       [&](const PipelineOp& op) { return op.id == id; });
}

// The operations with a queue that are children, or children of children without one.
void AddVisible(const DataPipeline& pipeline, const std::vector<int64_t>& children,
                std::set<int64_t>& seen, std::vector<const PipelineOp*>& out) {
  for (const int64_t child : children) {
    if (!seen.insert(child).second) continue;
    const PipelineOp& op = OpOf(pipeline, child);
    if (op.queue) {
      out.push_back(&op);
    } else {
      AddVisible(pipeline, op.children, seen, out);
    }
  }
}

// Mean of user and system time of each operation that was measured.
double CpuPercent(const store::PipelineCpu& cpu) {
  std::vector<double> both;
  for (size_t i = 0; i < std::min(cpu.user_percent.size(), cpu.system_percent.size()); ++i)
    both.push_back(cpu.user_percent[i] + cpu.system_percent[i]);
  return both.empty() ? 0 : Rounded(Mean(both), 2);
}

OpUse UseOf(const DataPipeline& pipeline, const PipelineOp& op) {
  OpUse use;
  use.id = op.id;
  use.name = op.type.substr(0, op.type.size() - std::min<size_t>(2, op.type.size()));
  use.workers = op.workers;
  use.children = op.children;
  for (const PipelineOp& other : pipeline.ops) {
    if (std::find(other.children.begin(), other.children.end(), op.id) != other.children.end())
      use.parent = other.id;
  }
  if (op.queue && !op.queue->sizes.empty()) {
    const auto samples = static_cast<double>(op.queue->sizes.size());
    const auto empty = std::count(op.queue->sizes.begin(), op.queue->sizes.end(), 0);
    const double average = AverageSize(*op.queue);
    use.queue_average = Rounded(average, 2);
    if (op.queue->length != 0)
      use.queue_used_percent = Rounded(100 * average / static_cast<double>(op.queue->length), 2);
    use.queue_empty_percent = Rounded(100 * static_cast<double>(empty) / samples, 2);
  }
  for (const store::PipelineCpu& cpu : pipeline.cpu) {
    if (cpu.op_id == op.id) use.cpu_percent = CpuPercent(cpu);
  }
  if (use.workers > 0 && use.cpu_percent >= 0)
    use.worker_cpu_percent = Rounded(use.cpu_percent / static_cast<double>(use.workers), 2);
  return use;
}

// -1 is a whole number in the file, whatever it stands for.
SummaryValue Known(double value) {
  return value == -1 ? SummaryValue(int64_t{-1}) : SummaryValue(value);
}

class Summary {
 public:
  explicit Summary(const DataPipeline& pipeline) : pipeline_(pipeline) {
    for (const PipelineOp& op : pipeline.ops) uses_.push_back(UseOf(pipeline, op));
  }

  std::vector<SummaryLine> Make() {
    AddOps("op_ids", [](const OpUse& op) { return op.id; });
    AddOps("op_names", [](const OpUse& op) { return op.name; });
    AddOps("pipeline_ops",
           [](const OpUse& op) { return fmt::format("{}(id={})", op.name, op.id); });
    AddOps("num_workers", [](const OpUse& op) { return op.workers; });
    AddOps("queue_average_size", [](const OpUse& op) { return Known(op.queue_average); });
    AddOps("queue_utilization_pct", [](const OpUse& op) { return Known(op.queue_used_percent); });
    AddOps("queue_empty_freq_pct", [](const OpUse& op) { return Known(op.queue_empty_percent); });
    AddOps("children_ids", [](const OpUse& op) { return op.children; });
    AddOps("parent_id", [](const OpUse& op) { return op.parent; });
    AddOps("avg_cpu_pct", [](const OpUse& op) { return Known(op.cpu_percent); });
    AddTimes();
    AddOps("avg_cpu_pct_per_worker", [](const OpUse& op) { return Known(op.worker_cpu_percent); });
    AddAdvice();
    return std::move(lines_);
  }

 private:
  template <typename Value>
  void AddOps(std::string key, const Value& value) {
    SummaryLine& line = lines_.emplace_back(SummaryLine{std::move(key), {}});
    for (const OpUse& op : uses_) line.values.emplace_back(value(op));
  }

  void AddTimes() {
    constexpr int64_t kFirstBatch = 2;
    constexpr size_t kWhole = 2;
    std::array<std::vector<double>, 3> times_ms;  // pipeline, push to the device, batch
    std::vector<double> moments_ms;
    for (const store::PipelineBatch& line : pipeline_.batches) {
      if (line.batch < kFirstBatch) continue;
      const bool is_time = line.kind == 0 && line.extra >= 0 && line.extra <= 2;
      if (is_time) times_ms[static_cast<size_t>(line.extra)].push_back(line.value);
      if (line.kind == 1) moments_ms.push_back(line.moment_ms);
    }
    if (!pipeline_.has_device_queue && times_ms[kWhole].empty()) {
      for (size_t i = 1; i < moments_ms.size(); ++i)
        times_ms[kWhole].push_back(moments_ms[i] - moments_ms[i - 1]);
    }
    constexpr std::array<const char*, 3> kKeys = {"per_pipeline_time", "per_push_queue_time",
                                                  "per_batch_time"};
    for (size_t i = 0; i < kKeys.size(); ++i) {
      const double mean_ms = times_ms[i].empty() ? -1 : Rounded(Mean(times_ms[i]), 3);
      lines_.push_back({kKeys[i], {}});
      lines_.back().values.push_back(Known(mean_ms));
    }
  }

  void AddAdvice() {
    const auto measured = std::count_if(pipeline_.cpu.begin(), pipeline_.cpu.end(),
                                        [](const auto& cpu) { return cpu.op_id != -1; });
    if (static_cast<size_t>(measured) != uses_.size()) return;
    const PipelineAdvice advice = AdviseOnPipeline(uses_);
    const auto add = [&](std::string key, const std::vector<std::string>& sentences) {
      SummaryLine& line = lines_.emplace_back(SummaryLine{std::move(key), {}});
      line.values.assign(sentences.begin(), sentences.end());
    };
    add("cpu_analysis_details", advice.cpu_details);
    add("queue_analysis_details", advice.queue_details);
    add("bottleneck_warning", advice.bottleneck_warning);
    add("bottleneck_suggestion", advice.bottleneck_suggestion);
  }

  const DataPipeline& pipeline_;  // outlives this, which lives for one call
  std::vector<OpUse> uses_;
  std::vector<SummaryLine> lines_;
};

}  // namespace

double AverageSize(const PipelineOp::Queue& queue) {
  if (queue.sizes.empty()) return 0;
  return static_cast<double>(std::accumulate(queue.sizes.begin(), queue.sizes.end(), int64_t{0})) /
         static_cast<double>(queue.sizes.size());
}

std::vector<PipelineRow> PipelineRows(const DataPipeline& pipeline) {
  std::vector<PipelineRow> rows;
  std::set<int64_t> listed = {0};
  std::deque<PipelineRow> waiting = {{&OpOf(pipeline, 0), std::nullopt, {}}};
  while (!waiting.empty()) {
    PipelineRow row = std::move(waiting.front());
    waiting.pop_front();
    std::set<int64_t> seen;
    std::vector<const PipelineOp*> children;
    AddVisible(pipeline, row.op->children, seen, children);
    for (const PipelineOp* child : children) {
      if (!listed.insert(child->id).second) continue;
      row.children.push_back(child->id);
      waiting.push_back({child, row.op->id, {}});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<SummaryLine> SummarisePipeline(const DataPipeline& pipeline) {
  return Summary(pipeline).Make();
}

}  // namespace steplens::analysis
