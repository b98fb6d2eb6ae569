#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/time_math.h"
#include "export/prof/prof_csv.h"

namespace steplens::exporting {
namespace {

using store::kNone;

constexpr double kKernelNsPerUs = 1000;
constexpr uint32_t kNoContextId = ~uint32_t{0};

std::string ShapeCell(std::string_view text) {
  if (text.empty()) return std::string(kNotKnown);
  std::string quoted;
  quoted += '"';
  quoted += text;
  quoted += '"';
  return CsvText(quoted);
}

std::string TextCell(std::string_view text) { return CsvText(text.empty() ? kNotKnown : text); }

// The rows of op_summary.
class SummaryWriter {
 public:
  explicit SummaryWriter(const ProfFacts& facts)
      : facts_(facts),
        kernels_(facts.store.kernels),
        texts_(facts.store, TextCell),
        shapes_(facts.store, ShapeCell) {
    for (size_t row = 0; row < kernels_.size(); ++row) has_operators_ |= !facts.IsCollective(row);
  }

  Status Write(const ProfTarget& target) {
    ProfCsv csv(target, "op_summary", Header(), kernels_.size());
    for (size_t row = 0; row < kernels_.size(); ++row) {
      SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
      WriteRow(*file, row);
      file->EndRow();
    }
    return csv.Finish();
  }

 private:
  std::vector<std::string> Header() const {
    std::vector<std::string> header = {
        "Device_id",         "Model ID", "Task ID",   "Stream ID",           "Op Name",
        "OP Type",           "OP State", "Task Type", "Task Start Time(us)", "Task Duration(us)",
        "Task Wait Time(us)"};
    const auto add = [&](std::initializer_list<const char*> names) {
      header.insert(header.end(), names.begin(), names.end());
    };
    if (!has_operators_) {
      add({"Context ID"});
      return header;
    }
    add({"Block Num"});
    if (facts_.has_stars) add({"Mix Block Num"});
    add({"HF32 Eligible", "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes",
         "Output Data Types", "Output Formats"});
    if (facts_.has_stars) add({"Context ID"});
    for (const store::DynamicColumn& metric : facts_.store.kernel_metrics)
      header.push_back(metric.name);
    return header;
  }

  void WriteRow(CsvFile& csv, size_t row) {
    const bool is_collective = facts_.IsCollective(row);
    csv.Int(kernels_.device[row]);
    csv.Int(kernels_.model_id[row], kNotKnown);
    csv.Int(is_collective ? kNone : kernels_.task_id[row], kNotKnown);
    csv.Int(is_collective ? kNone : kernels_.stream[row], kNotKnown);
    csv.Rendered(texts_[kernels_.name[row]]);
    csv.Rendered(texts_[kernels_.type[row]]);
    csv.Rendered(texts_[kernels_.state[row]]);
    csv.Rendered(texts_[kernels_.core[row]]);
    csv.Us(kernels_.begin_ns[row]);
    csv.PlainUs(kernels_.dur_ns[row]);
    csv.PlainUs(kernels_.wait_ns[row]);
    if (!has_operators_) return csv.Rendered(kNotKnown);
    csv.Int(kernels_.block_dim[row], "0");
    if (facts_.has_stars) csv.Int(is_collective ? kNone : kernels_.mix_block_dim[row], kNotKnown);
    csv.Rendered(texts_[kernels_.hf32[row]]);
    csv.Rendered(shapes_[kernels_.input_shapes[row]]);
    csv.Rendered(texts_[kernels_.input_types[row]]);
    csv.Rendered(texts_[kernels_.input_formats[row]]);
    csv.Rendered(shapes_[kernels_.output_shapes[row]]);
    csv.Rendered(texts_[kernels_.output_types[row]]);
    csv.Rendered(texts_[kernels_.output_formats[row]]);
    if (facts_.has_stars) csv.Int(kernels_.context_id[row], kNotKnown);
    for (const store::DynamicColumn& metric : facts_.store.kernel_metrics) {
      const double value =
          row < metric.numbers.size() ? metric.numbers[row] : store::NotKnown<double>();
      csv.ShortNumber(RoundToThree(value), kNotKnown);
    }
  }

  const ProfFacts& facts_;
  const store::KernelTable& kernels_;
  RenderedTexts<RenderText> texts_;
  RenderedTexts<RenderText> shapes_;
  bool has_operators_ = false;
};

// Count, sum and extremes of durations.
struct Durations {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t least_ns = std::numeric_limits<int64_t>::max();
  int64_t most_ns = 0;

  void Add(int64_t ns) {
    ++count;
    total_ns = analysis::AddNs(total_ns, ns);
    least_ns = std::min(least_ns, ns);
    most_ns = std::max(most_ns, ns);
  }
  // Count, Total Time(us), Min Time(us), Avg Time(us), Max Time(us), Ratio(%)
  void Write(CsvFile& csv, double all_ns) const {
    const auto total = static_cast<double>(total_ns);
    csv.Int(count);
    csv.ShortNumber(total / kKernelNsPerUs);
    csv.ShortNumber(static_cast<double>(least_ns) / kKernelNsPerUs);
    csv.ShortNumber(RoundToThree(total / static_cast<double>(count) / kKernelNsPerUs));
    csv.ShortNumber(static_cast<double>(most_ns) / kKernelNsPerUs);
    csv.ShortNumber(all_ns > 0 ? RoundToThree(total / all_ns * 100) : 0);
  }
};

// The most time first.
template <typename Key>
std::vector<std::pair<Key, Durations>> ByTotal(const std::map<Key, Durations>& groups) {
  std::vector<std::pair<Key, Durations>> rows(groups.begin(), groups.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns > b.second.total_ns;
  });
  return rows;
}

double TotalOf(const auto& groups) {
  double total_ns = 0;
  for (const auto& [key, durations] : groups) total_ns += static_cast<double>(durations.total_ns);
  return total_ns;
}

// Which tasks task_time shows: of a mixed kernel its first sub-task stands for all; the tasks of
// graphs of sub-tasks are left out.
class ShownTasks {
 public:
  explicit ShownTasks(const ProfFacts& facts) : facts_(facts) {
    const store::DeviceTaskTable& tasks = facts.store.device_tasks;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (tasks.context_id[i] != kNoContextId)
        first_context_.try_emplace(KeyOf(i), tasks.context_id[i]);
    }
  }
  bool Shows(size_t task) const {
    if (facts_.IsMark(task)) return false;
    if (first_context_.empty()) return true;
    const auto first = first_context_.find(KeyOf(task));
    if (first == first_context_.end()) return true;
    return first->second == 0 && facts_.store.device_tasks.context_id[task] == 0;
  }

 private:
  uint64_t KeyOf(size_t i) const {
    const store::DeviceTaskTable& tasks = facts_.store.device_tasks;
    return static_cast<uint64_t>(tasks.device[i]) << 48 | uint64_t{tasks.stream[i]} << 32 |
           uint64_t{tasks.batch_id[i]} << 16 | tasks.task_id[i];
  }
  const ProfFacts& facts_;
  std::unordered_map<uint64_t, uint32_t> first_context_;
};

}  // namespace

Status WriteOpSummary(const ProfFacts& facts, const ProfTarget& target) {
  return SummaryWriter(facts).Write(target);
}

Status WriteProfOpStatistic(const ProfFacts& facts, const ProfTarget& target) {
  if (facts.is_level0) return {};
  const store::KernelTable& kernels = facts.store.kernels;
  std::map<int64_t, std::map<std::pair<std::string_view, std::string_view>, Durations>> devices;
  for (size_t row = 0; row < kernels.size(); ++row) {
    const std::string_view type = facts.store.Text(kernels.type[row]);
    if (facts.IsCollective(row) || type.empty() || type == kNotKnown) continue;
    devices[kernels.device[row]][{type, facts.store.Text(kernels.core[row])}].Add(
        kernels.dur_ns[row]);
  }
  ProfCsv csv(target, "op_statistic",
              {"Device_id", "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)",
               "Avg Time(us)", "Max Time(us)", "Ratio(%)"},
              0);
  for (const auto& [device, groups] : devices) {
    const double all_ns = TotalOf(groups);
    for (const auto& [key, durations] : ByTotal(groups)) {
      SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
      file->Int(device);
      file->Text(key.first);
      file->Text(key.second);
      durations.Write(*file, all_ns);
      file->EndRow();
    }
  }
  return csv.Finish();
}

Status WriteCommunicationStatistic(const ProfFacts& facts, const ProfTarget& target) {
  if (facts.is_level0) return {};
  const store::KernelTable& kernels = facts.store.kernels;
  std::map<int64_t, std::map<std::string_view, Durations>> devices;
  for (size_t row = 0; row < kernels.size(); ++row) {
    const std::string_view type = facts.store.Text(kernels.type[row]);
    if (!facts.IsCollective(row) || kernels.begin_ns[row] < facts.begin_ns) continue;
    devices[kernels.device[row]][type.empty() ? kNotKnown : type].Add(kernels.dur_ns[row]);
  }
  ProfCsv csv(target, "communication_statistic",
              {"Device_id", "OP Type", "Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)",
               "Max Time(us)", "Ratio(%)"},
              0);
  for (const auto& [device, groups] : devices) {
    if (groups.size() == 1 && groups.begin()->first == kNotKnown) continue;
    const double all_ns = TotalOf(groups);
    for (const auto& [type, durations] : ByTotal(groups)) {
      SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
      file->Int(device);
      file->Text(type);
      durations.Write(*file, all_ns);
      file->EndRow();
    }
  }
  return csv.Finish();
}

Status WriteProfTaskTime(const ProfFacts& facts, const ProfTarget& target) {
  const store::DeviceTaskTable& tasks = facts.store.device_tasks;
  const ShownTasks shown(facts);
  std::vector<uint32_t> rows;
  rows.reserve(tasks.size());
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    if (shown.Shows(i)) rows.push_back(i);
  }
  const auto earlier = [&](uint32_t a, uint32_t b) {
    return tasks.begin_ns[a] < tasks.begin_ns[b];
  };
  if (!std::is_sorted(rows.begin(), rows.end(), earlier))
    std::stable_sort(rows.begin(), rows.end(), earlier);
  RenderedTexts<RenderText> texts(facts.store, TextCell);
  ProfCsv csv(target, "task_time",
              {"Device_id", "kernel_name", "kernel_type", "stream_id", "task_id", "task_time(us)",
               "task_start(us)", "task_stop(us)"},
              rows.size());
  for (const uint32_t row : rows) {
    SL_ASSIGN_OR_RETURN(CsvFile * file, csv.Next());
    const uint32_t kernel = facts.kernel_of[row];
    StringId name = tasks.kernel_name[row];
    if (name == StringId::kEmpty && kernel != store::kNoId) name = facts.store.kernels.name[kernel];
    file->Int(tasks.device[row]);
    file->Rendered(texts[name]);
    file->Rendered(texts[facts.TypeOf(row)]);
    file->Int(tasks.stream[row]);
    file->Int(tasks.task_id[row]);
    file->PlainUs(tasks.dur_ns[row]);
    file->Us(tasks.begin_ns[row]);
    file->Us(analysis::EndNs(tasks.begin_ns[row], tasks.dur_ns[row]));
    file->EndRow();
  }
  return csv.Finish();
}

}  // namespace steplens::exporting
