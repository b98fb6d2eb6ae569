#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "analysis/api/api_statistics.h"
#include "analysis/breakdown/breakdown.h"
#include "analysis/classify/collective_kernels.h"
#include "analysis/cpu_device/kernel_stacks.h"
#include "analysis/cpu_device/mindspore_lanes.h"
#include "analysis/operators/kernel_statistics.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"
#include "export/text/csv_file.h"
#include "export/text/csv_files.h"

namespace steplens::exporting {
namespace {

using store::kNone;
using store::TraceStore;

bool IsGpu(const TraceStore& store) {
  return analysis::DetectPlatform(store, analysis::ClassifyTracks(store)) ==
         analysis::Platform::kGpu;
}

template <typename Values>
bool AnyKnown(const Values& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != store::NotKnown<typename Values::Value>()) return true;
  }
  return false;
}

// The step a kernel starts in, both ends of a step included; none outside all steps.
class KernelSteps {
 public:
  explicit KernelSteps(const TraceStore& store) : store_(store) {
    is_known_ = AnyKnown(store.kernels.step);
    if (!is_known_) ranges_ = analysis::ComputeStepRanges(store);
  }
  bool HasSteps() const { return is_known_ || !ranges_.empty(); }
  int64_t operator()(size_t kernel) const {
    if (is_known_) return store_.kernels.step[kernel];
    const int64_t begin_ns = store_.kernels.begin_ns[kernel];
    for (const analysis::StepRange& range : ranges_) {
      if (range.begin_ns <= begin_ns && begin_ns <= range.end_ns) return range.step;
    }
    return kNone;
  }

 private:
  const TraceStore& store_;
  bool is_known_ = false;
  std::vector<analysis::StepRange> ranges_;
};

// Whether all rows of a column are the same; many columns of a capture are.
template <typename Values>
bool IsConstant(const Values& values) {
  for (size_t i = values.same_rows(); i < values.size(); ++i) {
    if (values[i] != values[0]) return false;
  }
  return true;
}

// A column of the file: its header and how a row of kernels fills it.
struct KernelColumn {
  std::string header;
  std::function<void(CsvFile&, size_t)> write;
  std::optional<std::string> constant;  // the cell that is the same in every row
};

// What stands next to each other and never changes is written at once.
std::vector<KernelColumn> JoinConstants(std::vector<KernelColumn> columns) {
  std::vector<KernelColumn> joined;
  for (KernelColumn& column : columns) {
    if (!column.constant || joined.empty() || !joined.back().constant) {
      joined.push_back(std::move(column));
      continue;
    }
    *joined.back().constant += ',' + *column.constant;
  }
  for (KernelColumn& column : joined) {
    if (!column.constant) continue;
    column.write = [cells = *column.constant](CsvFile& csv, size_t) { csv.Rendered(cells); };
  }
  return joined;
}

class KernelColumns {
 public:
  // `is_new`: with the headers of the newest versions.
  // `before_names`: the texts that MindSpore puts before the names of kernels, by row: call stacks,
  // and the ranges that launched them. Each list may be empty.
  KernelColumns(const TraceStore& store, bool is_new,
                std::vector<std::vector<StringId>> before_names)
      : store_(store),
        kernels_(store.kernels),
        before_names_(std::move(before_names)),
        steps_(store),
        texts_(store,
               [](std::string_view text) { return CsvText(text.empty() ? kNotKnown : text); }),
        shapes_(store, [](std::string_view text) { return CsvText(Quoted(text)); }),
        is_gpu_(IsGpu(store)),
        is_collective_(store, is_gpu_ ? analysis::Platform::kGpu : analysis::Platform::kAscend),
        is_mindspore_(IsMindSpore(store)),
        is_reduced_(store.info.level == "Level0"),
        is_new_(is_new) {}

  // The rows in the order of the file. Those of a GPU trace lie as its streams do: by device, start
  // and end then, which is how the trace has them.
  const std::vector<uint32_t>& rows() const { return rows_; }

  std::vector<KernelColumn> Make() {
    Order();
    if (steps_.HasSteps()) {
      Add(is_mindspore_ ? "Step ID" : "Step Id",
          [this](CsvFile& csv, size_t row) { csv.Int(steps_(row)); });
    }
    if (!is_mindspore_ && AnyKnown(kernels_.device)) Int("Device_id", kernels_.device);
    if (!is_reduced_ || is_mindspore_) {
      Int("Model ID", kernels_.model_id);
      Int("Task ID", kernels_.task_id);
      Int("Stream ID", kernels_.stream);
    }
    AddName();
    Text("Type", kernels_.type);
    if (!is_reduced_ || is_mindspore_) Text("OP State", kernels_.state);
    AddCore();
    AddTimes();
    Int(is_new_ ? "Block Num" : "Block Dim", kernels_.block_dim, 0);
    if (!is_reduced_) {
      Int(is_new_ ? "Mix Block Num" : "Mix Block Dim", kernels_.mix_block_dim);
      Text("HF32 Eligible", kernels_.hf32);
    }
    const bool has_shapes = AnyKnown(kernels_.input_shapes) || AnyKnown(kernels_.output_shapes);
    if (!is_reduced_ || (has_shapes && !is_mindspore_)) AddShapes();
    if (!is_reduced_) Int("Context ID", kernels_.context_id);
    for (const store::DynamicColumn& metric : store_.kernel_metrics) AddMetric(metric);
    return std::move(columns_);
  }

 private:
  void Add(std::string header, std::function<void(CsvFile&, size_t)> write,
           std::optional<std::string> constant = std::nullopt) {
    columns_.push_back({std::move(header), std::move(write), std::move(constant)});
  }
  // `of_collective`: what stands for a missing number in the row of a collective.
  void Int(std::string header, const store::Column<int64_t>& values,
           int64_t of_collective = kNone) {
    if (of_collective == kNone && IsConstant(values)) {
      const int64_t value = values.size() == 0 ? kNone : values[0];
      const std::string cell = value == kNone ? std::string(kNotKnown) : std::to_string(value);
      return Add(std::move(header), nullptr, cell);
    }
    Add(std::move(header), [this, &values, of_collective](CsvFile& csv, size_t row) {
      int64_t value = values[row];
      if (value == kNone && of_collective != kNone && is_collective_(row)) value = of_collective;
      csv.Int(value, kNotKnown);
    });
  }
  void Text(std::string header, const store::Column<StringId>& values) {
    if (IsConstant(values)) {
      const StringId text = values.size() == 0 ? StringId::kEmpty : values[0];
      return Add(std::move(header), nullptr, std::string(texts_[text]));
    }
    Add(std::move(header),
        [this, &values](CsvFile& csv, size_t row) { csv.Rendered(texts_[values[row]]); });
  }
  // Shapes stand in quotes of their own, so that spreadsheets do not take "32,3" for a number. What
  // has a type and no shape is a scalar.
  void Shapes(std::string header, const store::Column<StringId>& values,
              const store::Column<StringId>& types) {
    const auto cell = [this, &values, &types](size_t row) {
      const bool is_missing = values[row] == StringId::kEmpty && types[row] == StringId::kEmpty;
      return is_missing ? kNotKnown : std::string_view(shapes_[values[row]]);
    };
    if (values.size() > 0 && IsConstant(values) && IsConstant(types))
      return Add(std::move(header), nullptr, std::string(cell(0)));
    Add(std::move(header), [cell](CsvFile& csv, size_t row) { csv.Rendered(cell(row)); });
  }
  void AddName() {
    std::erase_if(before_names_, [](const auto& texts) { return texts.empty(); });
    if (before_names_.empty()) return Text("Name", kernels_.name);
    Add("Name", [this](CsvFile& csv, size_t row) {
      std::string whole;
      for (const std::vector<StringId>& texts : before_names_) {
        const std::string_view text = store_.Text(texts[row]);
        if (!text.empty()) whole.append(text) += '/';
      }
      whole.empty() ? csv.Rendered(texts_[kernels_.name[row]])
                    : csv.Text(whole.append(store_.Text(kernels_.name[row])));
    });
  }
  // The file tells collectives by their core, a GPU trace by their name.
  void AddCore() {
    if (!is_gpu_) return Text("Accelerator Core", kernels_.core);
    Add("Accelerator Core", [this](CsvFile& csv, size_t row) {
      is_collective_(row) ? csv.Text("COMMUNICATION") : csv.Rendered(texts_[kernels_.core[row]]);
    });
  }
  void AddTimes() {
    Add("Start Time(us)", [this](CsvFile& csv, size_t row) { csv.Us(kernels_.begin_ns[row]); });
    Add("Duration(us)", [this](CsvFile& csv, size_t row) { csv.Us(kernels_.dur_ns[row]); });
    Add("Wait Time(us)", [this](CsvFile& csv, size_t row) { csv.Us(WaitNs(row)); });
  }
  void Order() {
    rows_.resize(kernels_.size());
    std::iota(rows_.begin(), rows_.end(), 0);
    if (is_gpu_) {
      std::stable_sort(rows_.begin(), rows_.end(), [this](uint32_t a, uint32_t b) {
        return std::tuple(kernels_.device[a], kernels_.begin_ns[a], kernels_.dur_ns[a]) <
               std::tuple(kernels_.device[b], kernels_.begin_ns[b], kernels_.dur_ns[b]);
      });
    }
    before_.resize(rows_.size(), store::kNoId);
    for (size_t i = 1; i < rows_.size(); ++i) before_[rows_[i]] = rows_[i - 1];
  }
  // The gap to the end of the row before, whatever its stream; not known if one of the two is not.
  int64_t WaitNs(size_t row) const {
    if (kernels_.wait_ns[row] != kNone) return kernels_.wait_ns[row];
    const uint32_t before = before_[row];
    if (before == store::kNoId) return 0;
    if (kernels_.begin_ns[row] == kNone || kernels_.begin_ns[before] == kNone ||
        kernels_.dur_ns[before] == kNone)
      return kNone;
    const int64_t before_ns = analysis::EndNs(kernels_.begin_ns[before], kernels_.dur_ns[before]);
    return std::max<int64_t>(0, SubtractSaturating(kernels_.begin_ns[row].value(), before_ns));
  }
  void AddShapes() {
    Shapes("Input Shapes", kernels_.input_shapes, kernels_.input_types);
    Text("Input Data Types", kernels_.input_types);
    Text("Input Formats", kernels_.input_formats);
    Shapes("Output Shapes", kernels_.output_shapes, kernels_.output_types);
    Text("Output Data Types", kernels_.output_types);
    Text("Output Formats", kernels_.output_formats);
  }
  void AddMetric(const store::DynamicColumn& metric) {
    if (metric.is_text()) return Text(metric.name, metric.texts);
    const bool is_count = metric.name.find("cycles") != std::string::npos;
    Add(metric.name, [&metric, is_count](CsvFile& csv, size_t row) {
      const double value =
          row < metric.numbers.size() ? metric.numbers[row] : store::NotKnown<double>();
      is_count ? csv.ShortNumber(value, kNotKnown) : csv.Number(value, kNotKnown);
    });
  }

  static std::string Quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

  const TraceStore& store_;
  const store::KernelTable& kernels_;
  std::vector<std::vector<StringId>> before_names_;
  KernelSteps steps_;
  RenderedTexts<RenderText> texts_;
  RenderedTexts<RenderText> shapes_;
  bool is_gpu_;
  analysis::CollectiveKernels is_collective_;
  bool is_mindspore_;
  bool is_reduced_;
  bool is_new_;
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> before_;  // of each row of kernels the one above it in the file
  std::vector<KernelColumn> columns_;
};

// Whether the files are those of torch_npu's newest versions.
bool IsNewest(const TraceStore& store, const ExportOptions& options) {
  return options.is_raw && !IsMindSpore(store);
}

// What Device_id, the first column of the newest files, says in every row; empty: no such column.
std::string DeviceCell(const TraceStore& store, const ExportOptions& options) {
  const bool is_known = store.info.device != kNone;
  return IsNewest(store, options) && is_known ? std::to_string(store.info.device) : std::string();
}

// Rows of a computed table; the column "Rank" has no place in a file of one rank. `device`: the
// cell of an additional first column Device_id, if not empty.
Status WriteTable(const table::Table& table, std::string device, const std::string& path) {
  std::vector<std::string> header;
  if (table.Find("Device_id") != nullptr) device.clear();  // of several, each row its own
  if (!device.empty()) header.push_back("Device_id");
  for (const table::Column& column : table.columns()) {
    if (column.name != "Rank") header.push_back(column.name);
  }
  CsvFile csv(path, header);
  for (size_t row = 0; row < table.rows(); ++row) {
    if (!device.empty()) csv.Text(device);
    for (const table::Column& column : table.columns()) {
      if (column.name == "Rank") continue;
      if (column.type == table::CellType::kDouble) {
        csv.Number(std::round(column.doubles[row] * 1000) / 1000);
      } else if (column.type == table::CellType::kTimeUs) {
        csv.UsNumber(column.ints[row]);
      } else {
        const std::string text = table::CellText(column, row);
        const bool is_missing = text.empty() && column.type == table::CellType::kText;
        csv.Text(is_missing ? kNotKnown : std::string_view(text));
      }
    }
    csv.EndRow();
  }
  return csv.Commit();
}

}  // namespace

bool IsMindSpore(const TraceStore& store) { return store::IsMindSpore(store.info.source); }

Status WriteKernelDetails(const TraceStore& store, const ExportOptions& options,
                          const std::string& dir) {
  std::vector<std::vector<StringId>> before_names;
  if (options.is_raw && IsMindSpore(store))
    before_names = {analysis::KernelStacks(store), analysis::MindSporeLaunchers(store)};
  KernelColumns maker(store, IsNewest(store, options), std::move(before_names));
  std::vector<KernelColumn> columns = maker.Make();
  std::vector<std::string> header;
  for (const KernelColumn& column : columns) header.push_back(column.header);
  columns = JoinConstants(std::move(columns));
  CsvFile csv(dir + "/kernel_details.csv", header);
  for (const uint32_t row : maker.rows()) {
    for (const KernelColumn& column : columns) column.write(csv, row);
    csv.EndRow();
  }
  return csv.Commit();
}

Status WriteOpStatistic(const TraceStore& store, const ExportOptions& options,
                        const std::string& dir) {
  const std::string path = dir + "/op_statistic.csv";
  const store::OpStatisticTable& types = store.op_statistics;
  if (types.size() == 0) {
    // The kernels of a GPU have no types to sort them by.
    if (store.info.level == "Level0" || store.kernels.size() == 0 || IsGpu(store)) return {};
    return WriteTable(
        analysis::KernelStatistics(
            std::span(&store, 1),
            {.communication = analysis::CommunicationRows::kExclude, .selection = {}}),
        DeviceCell(store, options), path);
  }
  const bool has_device = AnyKnown(types.device);
  std::vector<std::string> header = {"OP Type",        "Core Type",    "Count",
                                     "Total Time(us)", "Min Time(us)", "Avg Time(us)",
                                     "Max Time(us)",   "Ratio(%)"};
  if (has_device) header.insert(header.begin(), "Device_id");
  CsvFile csv(path, header);
  for (size_t row = 0; row < types.size(); ++row) {
    if (has_device) csv.Int(types.device[row]);
    csv.Text(store.Text(types.type[row]));
    csv.Text(store.Text(types.core[row]));
    csv.Int(types.count[row]);
    for (const auto* column :
         {&types.total_us, &types.min_us, &types.avg_us, &types.max_us, &types.ratio_percent})
      csv.Number((*column)[row]);
    csv.EndRow();
  }
  return csv.Commit();
}

Status WriteApiStatistic(const TraceStore& store, const ExportOptions& options,
                         const std::string& dir) {
  const std::string path = dir + "/api_statistic.csv";
  const store::ApiStatisticTable& calls = store.api_statistics;
  if (calls.size() == 0) {
    if (store.info.level == "Level0") return {};
    return WriteTable(analysis::ApiStatistics(std::span(&store, 1), {}),
                      IsNewest(store, options) ? "host" : "", path);
  }
  const bool has_device = AnyKnown(calls.device);
  std::vector<std::string> header = {"Level",   "API Name", "Time(us)", "Count",
                                     "Avg(us)", "Min(us)",  "Max(us)",  "Variance"};
  if (has_device) header.insert(header.begin(), "Device_id");
  CsvFile csv(path, header);
  for (size_t row = 0; row < calls.size(); ++row) {
    if (has_device) csv.Text(store.Text(calls.device[row]));
    csv.Text(store.Text(calls.level[row]));
    csv.Text(store.Text(calls.name[row]));
    csv.Number(calls.total_us[row]);
    csv.Int(calls.count[row]);
    for (const auto* column : {&calls.avg_us, &calls.min_us, &calls.max_us, &calls.variance})
      csv.Number((*column)[row]);
    csv.EndRow();
  }
  return csv.Commit();
}

Status WriteStepTraceTime(const TraceStore& store, const ExportOptions& options,
                          const std::string& dir) {
  const std::string path = dir + "/step_trace_time.csv";
  const store::StepTraceTable& steps = store.step_traces;
  if (steps.size() == 0 && store.info.level == "LevelNone") return {};
  // A db divides work among steps by another rule: its numbers are none of this file.
  if (steps.size() == 0 || !store::DividesStepsAsText(store.info.format)) {
    const table::Table table =
        analysis::StepBreakdown(std::span(&store, 1), {.rule = analysis::BreakdownRule::kText});
    if (table.rows() > 0 || steps.size() == 0)
      return WriteTable(table, DeviceCell(store, options), path);
  }
  const bool has_device = AnyKnown(steps.device);
  const bool has_preparing = std::any_of(steps.preparing_us.begin(), steps.preparing_us.end(),
                                         [](double us) { return std::isfinite(us); });
  std::vector<std::string> header = {
      "Step",       "Computing",     "Communication(Not Overlapped)",
      "Overlapped", "Communication", "Free",
      "Stage",      "Bubble",        "Communication(Not Overlapped and Exclude Receive)"};
  if (has_device) header.insert(header.begin(), "Device_id");
  if (has_preparing) header.push_back("Preparing");
  CsvFile csv(path, header);
  for (size_t row = 0; row < steps.size(); ++row) {
    if (has_device) csv.Int(steps.device[row]);
    csv.Int(steps.step[row]);
    // A sum of nothing is a whole 0 in the reference's file.
    const auto sum = [&](double us) { us == 0 ? csv.Int(0) : csv.Number(us); };
    for (const auto* column : {&steps.computing_us, &steps.comm_not_overlapped_us,
                               &steps.overlapped_us, &steps.communication_us, &steps.free_us,
                               &steps.stage_us, &steps.bubble_us, &steps.comm_exclude_receive_us})
      sum((*column)[row]);
    if (has_preparing) sum(steps.preparing_us[row]);
    csv.EndRow();
  }
  return csv.Commit();
}

}  // namespace steplens::exporting
