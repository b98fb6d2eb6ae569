#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "analysis/classify/classify.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/rounding.h"
#include "analysis/modules/module_ops.h"
#include "analysis/operators/device_peaks.h"
#include "analysis/operators/rooflines.h"
#include "base/json.h"
#include "base/number.h"
#include "base/saturate.h"

namespace steplens::analysis::cluster {
namespace {

using store::TraceStore;
using table::CellType;

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

// A kernel of an operator whose FLOPs were recorded or follow from its inputs.
struct KernelRow {
  std::string op;
  std::string kernel;
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
  double mfu = kNotKnown;  // of the operator; of the kernel in compat mode
  double flops_per_s = 0;
  double peak_flops_per_s = kNotKnown;
  double flops = 0;  // its share of the operator's
  std::string flops_op;
  std::string input_shapes;
  std::string output_shapes;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(op, kernel, begin_ns, dur_ns, mfu, flops_per_s, peak_flops_per_s, flops, flops_op,
            input_shapes, output_shapes);
  }
};

struct ModuleRow {
  std::string parent;
  std::string module;
  std::string op;
  std::string kernels;
  int64_t total_ns = 0;
  int64_t count = 0;
  std::string mfu;  // "48.55%" by place in the kernel list; empty if none is known

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(parent, module, op, kernels, total_ns, count, mfu);
  }
};

struct Part {
  std::vector<KernelRow> kernels;
  std::vector<ModuleRow> modules;
  std::vector<RooflineRow> rooflines;  // of a GPU
  bool is_gpu = false;                 // FLOPs follow from the inputs of operators
  bool has_flops = false;              // ranges or inputs that say how many FLOPs operators have
  bool has_peak = false;               // and a device whose peak is known
  std::string unsupported_type;        // a data type without a known peak

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(kernels, modules, rooflines, is_gpu, has_flops, has_peak, unsupported_type);
  }
};

// What the host recorded of an operator: "34359738368-aten::mm" around its call; or the call of an
// operator whose inputs say it.
struct FlopsRange {
  double flops = 0;
  std::string_view op;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  store::TrackId track = store::kNoTrack;  // of the operator; a recorded range is for all threads
  uint32_t detail = store::kNoId;          // of the operator, in host_ops
  bool is_matrix = true;
};

// By start, outer before inner.
std::vector<FlopsRange> FindFlopsRanges(const TraceStore& store) {
  std::vector<FlopsRange> ranges;
  const auto domain = store.strings.Find("mfu_flops");
  if (!domain) return ranges;
  for (size_t i = 0; i < store.markers.size(); ++i) {
    if (store.markers.domain[i] != *domain) continue;
    const auto slice = static_cast<size_t>(store.markers.slice[i]);
    const std::string_view message = store.Text(store.slices.name[slice]);
    const size_t dash = message.find('-');
    if (dash == message.npos) continue;
    const auto flops = ParseInt64(message.substr(0, dash));
    if (!flops || *flops < 0) continue;
    const int64_t begin_ns = store.slices.begin_ns[slice];
    ranges.push_back({static_cast<double>(*flops), message.substr(dash + 1), begin_ns,
                      AddSaturating(begin_ns, store.slices.dur_ns[slice])});
  }
  std::stable_sort(ranges.begin(), ranges.end(), [](const FlopsRange& a, const FlopsRange& b) {
    return std::tuple(a.begin_ns, -a.end_ns) < std::tuple(b.begin_ns, -b.end_ns);
  });
  return ranges;
}

// By start.
std::vector<FlopsRange> FlopsOfInputs(const TraceStore& store) {
  std::vector<FlopsRange> ranges;
  for (const CostedOp& op : CollectCostedOps(store)) {
    const auto slice = static_cast<size_t>(op.slice);
    const int64_t begin_ns = store.slices.begin_ns[slice];
    const int64_t last_ns = AddSaturating(begin_ns, store.slices.dur_ns[slice]) - 1;
    ranges.push_back({op.cost.flops, store.Text(store.slices.name[slice]), begin_ns, last_ns,
                      store.slices.track[slice], op.detail, op.cost.is_matrix});
  }
  return ranges;
}

// Cube cores times clock; what a cycle does depends on the data type.
std::optional<double> CyclesPerSecond(const TraceStore& store) {
  const auto text = store.FindMeta("DeviceInfo");
  if (!text) return std::nullopt;
  const Result<JsonDocument> info = JsonDocument::Parse(*text, "DeviceInfo");
  if (!info.ok()) return std::nullopt;
  const auto cores = info->root()["ai_core_num"].AsDouble();
  const auto mhz = info->root()["aic_frequency"].AsDouble();
  if (!cores || !mhz || *cores <= 0 || *mhz <= 0) return std::nullopt;
  return *cores * *mhz * 1e6;
}

// FLOPs of one core in one cycle; nothing for types the cube has no rate for.
std::optional<double> FlopsPerCycle(std::string_view type) {
  for (const std::string_view half : {"FLOAT", "FLOAT16", "BF16", "DT_BF16"}) {
    if (type == half) return 8192;
  }
  if (type == "INT8") return 16384;
  return std::nullopt;
}

// Finds the row of `kernels` that a slice shows.
class KernelRows {
 public:
  explicit KernelRows(const TraceStore& store) : store_(store) {
    for (uint32_t i = 0; i < store.kernels.size(); ++i)
      rows_.emplace_back(store.kernels.begin_ns[i], store.kernels.name[i], i);
    std::sort(rows_.begin(), rows_.end());
  }
  std::optional<size_t> Find(store::SliceId slice) const {
    const auto s = static_cast<size_t>(slice);
    const std::tuple<int64_t, StringId, uint32_t> key{store_.slices.begin_ns[s],
                                                      store_.slices.name[s], 0};
    const auto found = std::lower_bound(rows_.begin(), rows_.end(), key);
    if (found == rows_.end() || std::get<0>(*found) != std::get<0>(key) ||
        std::get<1>(*found) != std::get<1>(key)) {
      return std::nullopt;
    }
    return std::get<2>(*found);
  }

 private:
  const TraceStore& store_;  // outlives this, which lives for one call
  std::vector<std::tuple<int64_t, StringId, uint32_t>> rows_;
};

// MFU of the kernels of one rank.
class RankMfu {
 public:
  RankMfu(const TraceStore& store, bool compat)
      : store_(store), compat_(compat), rows_(store), ops_(CollectLaunchingOps(store)) {}

  Part Compute() {
    Part part;
    std::vector<FlopsRange> ranges = FindFlopsRanges(store_);
    part.is_gpu =
        ranges.empty() && DetectPlatform(store_, ClassifyTracks(store_)) == Platform::kGpu;
    if (part.is_gpu) {
      ranges = FlopsOfInputs(store_);
      peaks_ = FindDevicePeaks(store_);
      part.rooflines = CollectRooflines(store_);
    } else {
      cycles_per_s_ = CyclesPerSecond(store_);
    }
    part.has_flops = !ranges.empty();
    part.has_peak = part.is_gpu ? peaks_.has_value() : cycles_per_s_.has_value();
    if (ranges.empty() || (!part.is_gpu && !part.has_peak)) return part;
    mfu_of_op_.resize(ops_.size());
    const std::vector<std::vector<uint32_t>> ops_of_range = AssignOps(ranges);
    for (size_t r = 0; r < ranges.size(); ++r) AddRange(ranges[r], ops_of_range[r], part);
    std::stable_sort(
        part.kernels.begin(), part.kernels.end(),
        [](const KernelRow& a, const KernelRow& b) { return a.begin_ns < b.begin_ns; });
    if (part.kernels.empty()) return part;
    for (const ModuleOp& op : GroupByModule(store_, ops_, FindModules(store_, compat_))) {
      part.modules.push_back(
          {op.parent, op.module, op.op, op.kernels, op.total_ns, op.count(), MeanMfu(op)});
    }
    return part;
  }

 private:
  // The operators that start in each range. An operator inside two ranges is the inner one's; the
  // reference counts it for both.
  std::vector<std::vector<uint32_t>> AssignOps(const std::vector<FlopsRange>& ranges) const {
    std::vector<std::vector<uint32_t>> ops_of_range(ranges.size());
    std::vector<size_t> range_of_op(ops_.size(), ranges.size());
    for (size_t r = 0; r < ranges.size(); ++r) {
      const auto first = std::lower_bound(
          ops_.begin(), ops_.end(), ranges[r].begin_ns,
          [](const LaunchingOp& op, int64_t begin_ns) { return op.begin_ns < begin_ns; });
      for (auto op = first; op != ops_.end() && op->begin_ns <= ranges[r].end_ns; ++op) {
        if (ranges[r].track != store::kNoTrack && op->track != ranges[r].track) continue;
        const auto i = static_cast<size_t>(op - ops_.begin());
        range_of_op[i] = r;
        if (compat_) ops_of_range[r].push_back(static_cast<uint32_t>(i));
      }
    }
    if (compat_) return ops_of_range;
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      if (range_of_op[i] < ranges.size()) ops_of_range[range_of_op[i]].push_back(i);
    }
    return ops_of_range;
  }

  std::string_view TypeOf(const FlopsRange& range, const std::vector<uint32_t>& ops) const {
    if (range.detail != store::kNoId) return FirstTensorType(store_, range.detail);
    const std::optional<size_t> row = rows_.Find(ops_[ops.front()].kernels.front().slice);
    if (!row) return {};
    const std::string_view types = store_.Text(store_.kernels.input_types[*row]);
    return types.substr(0, types.find(';'));
  }

  // NaN if the type has none.
  double PeakOf(const FlopsRange& range, std::string_view type, double flops_per_s) const {
    if (peaks_) return peaks_->FlopsPerSecond(type, range.is_matrix, flops_per_s);
    const std::optional<double> per_cycle = FlopsPerCycle(type);
    return per_cycle ? cycles_per_s_.value_or(kNotKnown) * *per_cycle : kNotKnown;
  }

  // The FLOPs of a range belong to all kernels launched in it, by their durations; the reference
  // gives all of them to each.
  void AddRange(const FlopsRange& range, const std::vector<uint32_t>& ops, Part& part) {
    if (ops.empty()) return;
    int64_t range_ns = 0;
    for (const uint32_t op : ops) range_ns = AddSaturating(range_ns, ops_[op].device_ns());
    const std::string_view type = TypeOf(range, ops);
    const double seconds = static_cast<double>(range_ns) * 1e-9;
    const double peak = PeakOf(range, type, seconds > 0 ? range.flops / seconds : 0);
    if (part.has_peak && std::isnan(peak) && part.unsupported_type.empty())
      part.unsupported_type = type.empty() ? "not recorded" : std::string(type);
    for (const uint32_t op : ops) {
      for (const OpKernel& kernel : ops_[op].kernels) {
        const int64_t whole_ns = compat_ ? kernel.dur_ns : range_ns;
        KernelRow row = Describe(op, kernel);
        row.flops_op = range.op;
        if (range.detail != store::kNoId)
          row.input_shapes = store_.Text(store_.host_ops.input_shapes[range.detail]);
        if (whole_ns > 0) {
          row.flops =
              range.flops * static_cast<double>(kernel.dur_ns) / static_cast<double>(whole_ns);
          row.flops_per_s = range.flops / (static_cast<double>(whole_ns) * 1e-9);
          row.peak_flops_per_s = peak;
          row.mfu = row.flops_per_s / peak;
        }
        mfu_of_op_[op].push_back(row.mfu);
        part.kernels.push_back(std::move(row));
      }
    }
  }

  KernelRow Describe(uint32_t op, const OpKernel& kernel) const {
    KernelRow out;
    out.op = store_.Text(ops_[op].name);
    out.kernel = store_.Text(kernel.name);
    out.begin_ns = kernel.begin_ns;
    out.dur_ns = kernel.dur_ns;
    if (const std::optional<size_t> row = rows_.Find(kernel.slice)) {
      out.input_shapes = store_.Text(store_.kernels.input_shapes[*row]);
      out.output_shapes = store_.Text(store_.kernels.output_shapes[*row]);
    }
    return out;
  }

  // By place in the kernel list: the mean over the calls that have a value above 0.
  std::string MeanMfu(const ModuleOp& op) const {
    const size_t places = ops_[op.ops.front()].kernels.size();
    std::string out;
    bool any = false;
    for (size_t place = 0; place < places; ++place) {
      double sum = 0;
      double count = 0;
      for (const uint32_t call : op.ops) {
        const std::vector<double>& values = mfu_of_op_[call];
        if (place >= values.size() || !(values[place] > 0)) continue;
        sum += values[place];
        ++count;
      }
      if (place > 0) out += ", ";
      if (count > 0) out += fmt::format("{:.2f}%", 100 * sum / count);
      any |= count > 0;
    }
    return any ? out : "";
  }

  const TraceStore& store_;
  bool compat_;
  std::optional<double> cycles_per_s_;  // of an NPU
  std::optional<DevicePeaks> peaks_;    // of a GPU
  KernelRows rows_;
  std::vector<LaunchingOp> ops_;
  std::vector<std::vector<double>> mfu_of_op_;  // of each kernel; empty if FLOPs are not known
};

class OperatorMfu : public RecipeOf<Part> {
 public:
  explicit OperatorMfu(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form) override {
    Answer answer;
    AddNotes(answer);
    // The reference gives up altogether on a data type it has no peak for.
    if (!(options_.compat && !unsupported_type_.empty())) {
      answer.tables.push_back(Kernels());
      answer.tables.push_back(Modules());
      if (!rooflines_.empty()) answer.tables.push_back(Rooflines());
    }
    answer.suggestion = Message{"suggestion.operator_mfu"};
    return answer;
  }

 protected:
  Part MapRank(const TraceStore& rank) const override {
    return RankMfu(rank, options_.compat).Compute();
  }

  void AddRank(const RankFacts& facts, Part part) override {
    (part.is_gpu ? gpus_without_flops_ : ranks_without_flops_) += part.has_flops ? 0 : 1;
    (part.is_gpu ? gpus_without_peak_ : ranks_without_peak_) +=
        part.has_flops && !part.has_peak ? 1 : 0;
    for (RooflineRow& row : part.rooflines) rooflines_.emplace_back(facts.rank, std::move(row));
    part.rooflines.clear();
    if (unsupported_type_.empty()) unsupported_type_ = part.unsupported_type;
    ranks_.emplace_back(facts.rank, std::move(part));
  }

 private:
  void AddNotes(Answer& answer) const {
    answer.Note(ranks_without_flops_,
                "{ranks} recorded no FLOPs (mstx ranges of domain 'mfu_flops')");
    answer.Note(ranks_without_peak_,
                "{ranks} {do} not say {their} cores and clock (PROF_*/device_*/info.json.*)");
    answer.Note(gpus_without_flops_,
                "{ranks} recorded no input shapes of operators whose FLOPs are known "
                "(record_shapes=True)");
    answer.Note(gpus_without_peak_,
                "{ranks} {do} not say which device {their} kernels ran on, or "
                "its peak is not known");
    if (!unsupported_type_.empty()) {
      answer.notes.push_back(
          fmt::format("operators of data type {} have no MFU: the peak of that type is not known",
                      unsupported_type_));
    }
  }

  ResultTable Rooflines() const {
    ResultTable result{.table = RooflineTable("OperatorRoofline", rooflines_)};
    result.csv_name = "operator_rooflines.csv";
    return result;
  }

  ResultTable Kernels() const {
    table::Table table("OperatorMFU");
    table.AddColumn("rank_id", CellType::kInt);
    table.AddColumn("op_name", CellType::kText);
    table.AddColumn("kernel_name", CellType::kText);
    table.AddColumn("kernel_start(ns)", CellType::kInt);
    table.AddColumn("kernel_end(ns)", CellType::kInt);
    for (const char* name :
         {"kernel_duration(ns)", "mfu", "actual_tflops", "chip_peak_tflops", "flops"})
      table.AddColumn(name, CellType::kDouble);
    for (const char* name : {"flops_op_name", "input_shapes", "output_shapes"})
      table.AddColumn(name, CellType::kText);
    constexpr double kTera = 1e12;
    for (const auto& [rank, part] : ranks_) {
      for (const KernelRow& row : part.kernels) {
        table.AppendInt(0, rank);
        table.AppendText(1, row.op);
        table.AppendText(2, row.kernel);
        table.AppendInt(3, row.begin_ns);
        table.AppendInt(4, AddSaturating(row.begin_ns, row.dur_ns));
        table.AppendDouble(5, static_cast<double>(row.dur_ns));
        table.AppendDouble(6, RoundTo(row.mfu, 4));
        table.AppendDouble(7, RoundTo(row.flops_per_s / kTera, 2));
        table.AppendDouble(8, RoundTo(row.peak_flops_per_s / kTera, 2));
        table.AppendDouble(9, row.flops);
        table.AppendText(10, row.flops_op);
        table.AppendText(11, row.input_shapes);
        table.AppendText(12, row.output_shapes);
      }
    }
    ResultTable result{.table = std::move(table)};
    result.csv_name = "operator_mfu_kernel_{}.xlsx";
    result.file_per = "rank_id";
    result.csv_headers = {"Rank ID",
                          "Op Name",
                          "Kernel Name",
                          "Kernel Start(ns)",
                          "Kernel End(ns)",
                          "Kernel Duration(ns)",
                          "MFU",
                          "actual_tflops",
                          "chip_peak_tflops",
                          "flops",
                          "flops_op_name",
                          "input_shapes",
                          "output_shapes"};
    result.is_sheet = true;
    result.column_widths = {10, 40, 50, 20, 20};
    return result;
  }

  ResultTable Modules() const {
    const bool any_mfu = std::any_of(ranks_.begin(), ranks_.end(), [](const auto& rank) {
      return std::any_of(rank.second.modules.begin(), rank.second.modules.end(),
                         [](const ModuleRow& row) { return !row.mfu.empty(); });
    });
    table::Table table("ModuleMFU");
    table.AddColumn("rank_id", CellType::kInt);
    for (const char* name : {"parent_module", "module", "op_name", "kernel_list"})
      table.AddColumn(name, CellType::kText);
    table.AddColumn("total_kernel_duration(ns)", CellType::kDouble);
    table.AddColumn("avg_kernel_duration(ns)", CellType::kDouble);
    table.AddColumn("op_count", CellType::kInt);
    if (any_mfu) table.AddColumn("avg_mfu", CellType::kText);
    for (const auto& [rank, part] : ranks_) {
      for (const ModuleRow& row : part.modules) {
        const auto total_ns = static_cast<double>(row.total_ns);
        table.AppendInt(0, rank);
        table.AppendText(1, row.parent);
        table.AppendText(2, row.module);
        table.AppendText(3, row.op);
        table.AppendText(4, row.kernels);
        table.AppendDouble(5, total_ns);
        table.AppendDouble(6, total_ns / static_cast<double>(row.count));
        table.AppendInt(7, row.count);
        if (any_mfu) table.AppendText(8, row.mfu);
      }
    }
    ResultTable result{.table = std::move(table)};
    result.csv_name = "operator_mfu_module_{}.xlsx";
    result.file_per = "rank_id";
    result.csv_headers = {"Rank ID",
                          "Parent Module",
                          "Module",
                          "Op Name",
                          "Kernel List",
                          "Total Kernel Duration(ns)",
                          "Avg Kernel Duration(ns)",
                          "Op Count"};
    if (any_mfu) result.csv_headers.emplace_back("Avg MFU");
    result.is_sheet = true;
    result.merged_columns = 3;
    result.column_widths = {10, 40, 40, 40, 50, 10, 10, 10, 10};
    return result;
  }

  Options options_;
  std::vector<std::pair<int64_t, Part>> ranks_;
  std::vector<std::pair<int64_t, RooflineRow>> rooflines_;  // with their ranks
  size_t ranks_without_flops_ = 0;
  size_t ranks_without_peak_ = 0;
  size_t gpus_without_flops_ = 0;
  size_t gpus_without_peak_ = 0;
  std::string unsupported_type_;
};

}  // namespace

RecipeSpec OperatorMfuRecipe() {
  RecipeSpec spec;
  spec.name = "operator_mfu";
  spec.folder = "OperatorMfu";
  spec.summary = "Share of the chip's peak that matrix operators reach, by kernel and by module";
  spec.needs.timeline = true;
  spec.make = MakeRecipe<OperatorMfu>;
  return spec;
}

}  // namespace steplens::analysis::cluster
