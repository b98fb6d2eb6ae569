#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "analysis/classify/classify.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/duration_stats.h"
#include "analysis/steps/steps.h"
#include "base/number.h"
#include "table/csv.h"

namespace steplens::analysis::cluster {
namespace {

using store::KernelTable;
using store::kNone;
using store::TraceStore;

constexpr std::string_view kNotAvailable = "N/A";
constexpr double kNsPerUs = 1000;

// A csv file on its way: cells are texts, since the files say "N/A" where there is no number.
struct TextColumn {
  std::string name;
  std::vector<std::string> cells;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, cells);
  }
};

struct Part {
  std::vector<TextColumn> apis;
  std::vector<TextColumn> kernels;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(apis, kernels);
  }
};

std::string Known(std::string_view text) {
  return std::string(text.empty() ? kNotAvailable : text);
}
std::string Known(int64_t number) {
  return number == kNone ? std::string(kNotAvailable) : fmt::to_string(number);
}
// In quotes. A scalar has a type and an empty shape.
std::string ShapesCell(std::string_view shapes, std::string_view types) {
  return types.empty() && shapes.empty() ? std::string(kNotAvailable)
                                         : fmt::format("\"{}\"", shapes);
}

// The number that stands for 'no model', which collectives have, too.
constexpr int64_t kNoModel = 4294967295;

// The columns of a kernel file, as they are added.
class KernelColumns {
 public:
  explicit KernelColumns(const TraceStore& store) : store_(store) {}

  void Add(std::string name, const std::function<std::string(size_t row)>& cell) {
    TextColumn column{std::move(name), {}};
    column.cells.reserve(store_.kernels.size());
    for (size_t i = 0; i < store_.kernels.size(); ++i) column.cells.push_back(cell(i));
    columns_.push_back(std::move(column));
  }
  void Number(std::string name, const store::Column<int64_t>& column) {
    Add(std::move(name), [&](size_t i) { return Known(column[i]); });
  }
  void Text(std::string name, const store::Column<StringId>& column) {
    Add(std::move(name), [&](size_t i) { return Known(store_.Text(column[i])); });
  }
  void Shapes(std::string name, const store::Column<StringId>& column,
              const store::Column<StringId>& types) {
    Add(std::move(name),
        [&](size_t i) { return ShapesCell(store_.Text(column[i]), store_.Text(types[i])); });
  }
  std::vector<TextColumn> Take() { return std::move(columns_); }

 private:
  const TraceStore& store_;
  std::vector<TextColumn> columns_;
};

std::string MetricCell(const TraceStore& store, const store::DynamicColumn& metric, size_t row) {
  if (row >= metric.size()) return std::string(kNotAvailable);
  if (metric.is_text()) return Known(store.Text(metric.texts[row]));
  const double value = metric.numbers[row];
  return value == value ? FormatDouble(value) : std::string(kNotAvailable);
}

// kernel_details.csv as the collector writes it.
std::vector<TextColumn> KernelDetails(const TraceStore& store) {
  const KernelTable& kernels = store.kernels;
  KernelColumns out(store);
  const auto us = [](int64_t ns) {
    return ns == kNone ? std::string(kNotAvailable) : FormatNsAsUs(ns);
  };

  const std::vector<StepRange> steps = ComputeStepRanges(store);
  StepFinder finder(steps);
  if (!steps.empty()) {
    out.Add("Step Id", [&](size_t i) {
      if (kernels.step[i] != kNone) return fmt::to_string(kernels.step[i].value());
      const auto step = finder.Find(kernels.begin_ns[i]);
      return step ? fmt::to_string(steps[*step].step) : std::string();
    });
  }
  out.Number("Device_id", kernels.device);
  out.Add("Model ID", [&](size_t i) {
    return fmt::to_string(kernels.model_id[i] == kNone ? kNoModel : kernels.model_id[i].value());
  });
  out.Number("Task ID", kernels.task_id);
  out.Number("Stream ID", kernels.stream);
  out.Text("Name", kernels.name);
  out.Text("Type", kernels.type);
  out.Text("OP State", kernels.state);
  out.Text("Accelerator Core", kernels.core);
  // The TAB keeps spreadsheets from rounding the number.
  out.Add("Start Time(us)", [&](size_t i) { return us(kernels.begin_ns[i]) + "\t"; });
  out.Add("Duration(us)", [&](size_t i) { return us(kernels.dur_ns[i]); });
  out.Add("Wait Time(us)", [&](size_t i) { return us(kernels.wait_ns[i]); });
  out.Number("Block Dim", kernels.block_dim);
  out.Number("Mix Block Dim", kernels.mix_block_dim);
  out.Text("HF32 Eligible", kernels.hf32);
  out.Shapes("Input Shapes", kernels.input_shapes, kernels.input_types);
  out.Text("Input Data Types", kernels.input_types);
  out.Text("Input Formats", kernels.input_formats);
  out.Shapes("Output Shapes", kernels.output_shapes, kernels.output_types);
  out.Text("Output Data Types", kernels.output_types);
  out.Text("Output Formats", kernels.output_formats);
  out.Number("Context ID", kernels.context_id);
  for (const store::DynamicColumn& metric : store.kernel_metrics)
    out.Add(metric.name, [&](size_t i) { return MetricCell(store, metric, i); });
  return out.Take();
}

// A metric under the reference's name, and the name that its place follows from.
struct ReferenceMetric {
  std::string order;
  std::string name;
  const store::DynamicColumn* column;
};

std::vector<ReferenceMetric> ReferenceMetrics(const TraceStore& store) {
  std::vector<ReferenceMetric> out;
  for (const store::DynamicColumn& column : store.kernel_metrics) {
    const std::string name = column.name.substr(0, column.name.find('('));
    const std::string order = name == "aicore_time" ? "aic_total_time"
                              : name == "aiv_time"  ? "aiv_total_time"
                                                    : name;
    out.push_back({order, name, &column});
  }
  std::stable_sort(out.begin(), out.end(), [](const ReferenceMetric& a, const ReferenceMetric& b) {
    return a.order < b.order;
  });
  return out;
}

// kernel_details.csv as the reference's recipe writes it: other names, times through doubles, and
// as wait the time from the start before to the own end.
std::vector<TextColumn> ReferenceKernelDetails(const TraceStore& store) {
  const KernelTable& kernels = store.kernels;
  KernelColumns out(store);
  const auto is_collective = [&](size_t i) {
    return IsCommunicationCore(store.Text(kernels.core[i]));
  };

  out.Text("op_name", kernels.name);
  out.Number("block_dim", kernels.block_dim);
  out.Number("mix_block_dim", kernels.mix_block_dim);
  out.Text("op_type", kernels.type);
  out.Add("task_type", [&](size_t i) {
    return is_collective(i) ? std::string("COMMUNICATION") : Known(store.Text(kernels.core[i]));
  });
  out.Text("input_formats", kernels.input_formats);
  out.Shapes("input_shapes", kernels.input_shapes, kernels.input_types);
  out.Text("input_data_types", kernels.input_types);
  out.Shapes("output_shapes", kernels.output_shapes, kernels.output_types);
  out.Text("output_formats", kernels.output_formats);
  out.Text("output_data_types", kernels.output_types);
  const bool has_state = std::any_of(kernels.state.begin(), kernels.state.end(),
                                     [](StringId state) { return state != StringId::kEmpty; });
  if (has_state) out.Text("op_state", kernels.state);
  const auto us = [](store::MaybeInt ns) {
    return ns.is_known() ? FormatDouble(static_cast<double>(ns.value()) / kNsPerUs)
                         : std::string(kNotAvailable);
  };
  out.Add("task_start_time", [&](size_t i) { return us(kernels.begin_ns[i]); });
  out.Add("task_duration", [&](size_t i) { return us(kernels.dur_ns[i]); });
  out.Number("device_id", kernels.device);
  out.Add("model_id", [&](size_t i) {
    return fmt::to_string(kernels.model_id[i] == kNone ? kNoModel : kernels.model_id[i].value());
  });
  out.Number("stream_id", kernels.stream);
  out.Add("context_id", [&](size_t i) {
    const bool is_task = kernels.context_id[i] == kNone && !is_collective(i);
    return is_task ? fmt::to_string(kNoModel) : Known(kernels.context_id[i]);
  });
  out.Number("task_id", kernels.task_id);
  for (const ReferenceMetric& metric : ReferenceMetrics(store)) {
    out.Add(metric.name, [&](size_t i) {
      std::string cell = MetricCell(store, *metric.column, i);
      // Kernels that were not measured have zeros there.
      return cell == kNotAvailable && !is_collective(i) ? "0.0" : cell;
    });
  }
  out.Add("task_wait_time", [&](size_t i) {
    if (i == 0) return std::string("0.0");
    const store::MaybeInt end_ns = EndNs(kernels.begin_ns[i], kernels.dur_ns[i]);
    const store::MaybeInt before_ns = kernels.begin_ns[i - 1];
    if (!end_ns.is_known() || !before_ns.is_known()) return std::string(kNotAvailable);
    return FormatDouble(
        (static_cast<double>(end_ns.value()) - static_cast<double>(before_ns.value())) / kNsPerUs);
  });
  return out.Take();
}

// visit(slice row, what it calls) for every call of CANN.
template <typename Visit>
void ForEachCannCall(const TraceStore& store, const std::vector<TrackKind>& tracks, Visit visit) {
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto track = static_cast<size_t>(store.slices.track[i]);
    if (track >= tracks.size() || tracks[track] != TrackKind::kCann) continue;
    if (const auto api = ParseCannApi(store.Text(store.slices.name[i]))) visit(i, *api);
  }
}

// Largest total first.
template <typename Key>
std::vector<std::pair<Key, DurationStats>> ByTotal(const std::map<Key, DurationStats>& apis) {
  std::vector<std::pair<Key, DurationStats>> rows(apis.begin(), apis.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns > b.second.total_ns;
  });
  return rows;
}

// Appends a row of cells, one per column.
void AppendRow(std::vector<TextColumn>& columns, std::vector<std::string> cells) {
  for (size_t c = 0; c < columns.size(); ++c) columns[c].cells.push_back(std::move(cells[c]));
}

// api_statistic.csv as the collector writes it: what the calls took on the host.
std::vector<TextColumn> ApiStatistic(const TraceStore& store) {
  std::map<std::pair<std::string, std::string>, DurationStats> apis;  // (level, name)
  ForEachCannCall(store, ClassifyTracks(store), [&](size_t slice, const CannApi& api) {
    apis[{std::string(api.level), std::string(api.name)}].Add(store.slices.dur_ns[slice]);
  });
  std::vector<TextColumn> out;
  for (const char* name : {"Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)",
                           "Min(us)", "Max(us)", "Variance"})
    out.push_back({name, {}});
  for (const auto& [api, stats] : ByTotal(apis)) {
    AppendRow(
        out, {"host", api.first, api.second, FormatNsAsUs(stats.total_ns),
              fmt::to_string(stats.count), FormatNsAsUs(stats.avg_ns()), FormatNsAsUs(stats.min_ns),
              FormatNsAsUs(stats.max_ns), FormatDouble(stats.variance_us2())});
  }
  return out;
}

// The reference's: what the device tasks took that belong to a call, in ns.
std::vector<TextColumn> ReferenceApiStatistic(const TraceStore& store) {
  const std::vector<TrackKind> tracks = ClassifyTracks(store);
  std::multimap<int64_t, std::string_view> calls;  // by correlation
  ForEachCannCall(store, tracks, [&](size_t slice, const CannApi& api) {
    if (store.slices.correlation[slice] != kNone)
      calls.emplace(store.slices.correlation[slice], api.name);
  });
  std::map<std::string, DurationStats> apis;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto track = static_cast<size_t>(store.slices.track[i]);
    if (track >= tracks.size() || tracks[track] != TrackKind::kDevice) continue;
    const auto [first, last] = calls.equal_range(store.slices.correlation[i]);
    for (auto call = first; call != last; ++call)
      apis[std::string(call->second)].Add(store.slices.dur_ns[i]);
  }
  std::vector<TextColumn> out;
  for (const char* name :
       {"API Name", "Total Time(ns)", "Count", "Avg Time(ns)", "Min Time(ns)", "Max Time(ns)"})
    out.push_back({name, {}});
  for (const auto& [name, stats] : ByTotal(apis)) {
    const double mean_ns = static_cast<double>(stats.total_ns) / static_cast<double>(stats.count);
    AppendRow(out,
              {name, fmt::to_string(stats.total_ns), fmt::to_string(stats.count),
               FormatDouble(mean_ns), fmt::to_string(stats.min_ns), fmt::to_string(stats.max_ns)});
  }
  return out;
}

class ExportSummary : public RecipeOf<Part> {
 public:
  explicit ExportSummary(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form) override {
    answer_.Note(ranks_without_calls_,
                 "{ranks} recorded no CANN calls and {get} no api_statistic.csv");
    answer_.Note(ranks_without_kernels_,
                 "{ranks} {have} no kernels and {get} no kernel_details.csv");
    answer_.suggestion = Message{"suggestion.export_summary"};
    return std::move(answer_);
  }

 protected:
  Part MapRank(const TraceStore& rank) const override {
    if (options_.compat) return {ReferenceApiStatistic(rank), ReferenceKernelDetails(rank)};
    return {ApiStatistic(rank), KernelDetails(rank)};
  }

  void AddRank(const RankFacts& facts, Part part) override {
    ranks_without_calls_ += AddFile(facts.rank, "api_statistic", std::move(part.apis)) ? 0 : 1;
    ranks_without_kernels_ +=
        AddFile(facts.rank, "kernel_details", std::move(part.kernels)) ? 0 : 1;
  }

 private:
  // As a result below cluster_analysis_output and as a file for the capture. False if it would have
  // no rows.
  bool AddFile(int64_t rank, const std::string& name, std::vector<TextColumn> columns) {
    if (columns.empty() || columns.front().cells.empty()) return false;
    const size_t rows = columns.front().cells.size();
    const bool is_table = std::all_of(columns.begin(), columns.end(), [&](const TextColumn& one) {
      return one.cells.size() == rows;
    });
    if (!is_table) return false;  // somebody else's part
    table::Table table(name);
    for (TextColumn& column : columns) {
      table::Column text;
      text.name = std::move(column.name);
      text.type = table::CellType::kText;
      text.texts = std::move(column.cells);
      table.AddColumn(std::move(text));
    }
    const std::string file_name = name + ".csv";
    answer_.files.push_back(
        {fmt::format("ExportSummary/{}/{}", rank, file_name),
         [csv = table::ToCsv(table)](const ResultFile::Sink& sink) { return sink(csv); }});
    answer_.edits.push_back({rank, RankEdit::Kind::kCsv, std::move(table), file_name});
    return true;
  }

  Options options_;
  Answer answer_;
  size_t ranks_without_calls_ = 0;
  size_t ranks_without_kernels_ = 0;
};

}  // namespace

RecipeSpec ExportSummaryRecipe() {
  RecipeSpec spec;
  spec.name = "export_summary";
  spec.folder = "ExportSummary";
  spec.summary = "api_statistic.csv and kernel_details.csv of every rank";
  spec.has_edits_only = true;
  spec.needs.timeline = true;
  spec.make = MakeRecipe<ExportSummary>;
  return spec;
}

}  // namespace steplens::analysis::cluster
