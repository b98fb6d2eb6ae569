#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "analysis/breakdown/step_table.h"
#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/communication/json_number.h"
#include "analysis/cluster/device_time.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/overlap/overlap.h"
#include "analysis/time_math.h"
#include "table/csv.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using table::CellType;

constexpr std::array kDbNames = {"computing",  "communication_not_overlapped",
                                 "overlapped", "communication",
                                 "free",       "stage",
                                 "bubble",     "communication_not_overlapped_and_exclude_receive",
                                 "preparing"};
constexpr std::array kCsvNames = {"Computing",  "Communication(Not Overlapped)",
                                  "Overlapped", "Communication",
                                  "Free",       "Stage",
                                  "Bubble",     "Communication(Not Overlapped and Exclude Receive)",
                                  "Preparing"};
constexpr size_t kTimes = kDbNames.size();

// One rank's or stage's row of a step, in microseconds.
struct Row {
  int64_t step = kNone;
  std::vector<double> times_us;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(step, times_us);
  }
};

struct Part {
  std::vector<Row> rows;
  std::vector<GroupUse> used;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(rows, used);
  }
};

Row RowOf(const StepRow& times) {
  return {times.step,
          {times.computing_us, times.comm_not_overlapped_us, times.overlapped_us,
           times.communication_us, times.free_us, times.stage_us, times.bubble_us,
           times.comm_exclude_receive_us, times.preparing_us}};
}

// Where the input has no step table, as the reference has it: one row for all the capture. Receives
// at the head of communication that overlaps are taken to last as long as all of it.
std::vector<Row> WholeAsReference(const store::TraceStore& rank) {
  const std::vector<Interval> compute = ComputingTimes(rank);
  const store::CommOpTable& ops = rank.comm_ops;
  std::vector<size_t> order;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (IsPlausible(ops.begin_ns[i], EndNs(ops.begin_ns[i], ops.dur_ns[i]))) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return ops.begin_ns[a] < ops.begin_ns[b]; });
  std::vector<Interval> runs;
  std::vector<int64_t> receive_ns;  // of each run's head if it is one, and of receives inside runs
  size_t head_receive = SIZE_MAX;   // into receive_ns
  for (const size_t i : order) {
    const Interval in{ops.begin_ns[i], EndNs(ops.begin_ns[i], ops.dur_ns[i])};
    const bool is_receive = rank.Text(ops.name[i]).starts_with("hcom_receive");
    const bool is_head = runs.empty() || in.begin_ns > runs.back().end_ns;
    if (is_receive) receive_ns.push_back(in.end_ns - in.begin_ns);
    if (is_head) {
      runs.push_back(in);
      head_receive = is_receive ? receive_ns.size() - 1 : SIZE_MAX;
    } else {
      runs.back().end_ns = std::max(runs.back().end_ns, in.end_ns);
      if (head_receive != SIZE_MAX)
        receive_ns[head_receive] = runs.back().end_ns - runs.back().begin_ns;
    }
  }
  if (compute.empty() && runs.empty()) return {};
  Interval hull = compute.empty() ? runs.front() : compute.front();
  for (const std::vector<Interval>* list : {&compute, &std::as_const(runs)}) {
    for (const Interval& in : *list)
      hull = {std::min(hull.begin_ns, in.begin_ns), std::max(hull.end_ns, in.end_ns)};
  }
  const OverlapParts parts = ComputeOverlap(compute, runs, hull);
  const int64_t bubble_ns = std::accumulate(receive_ns.begin(), receive_ns.end(), int64_t{0});
  const int64_t computing_ns = parts.compute_only_ns + parts.overlapped_ns;
  Row row;
  for (const int64_t ns : {computing_ns, parts.comm_only_ns, parts.overlapped_ns,
                           parts.comm_only_ns + parts.overlapped_ns, parts.free_ns,
                           parts.free_ns + computing_ns + parts.comm_only_ns - bubble_ns, bubble_ns,
                           parts.comm_only_ns - bubble_ns, int64_t{0}}) {
    row.times_us.push_back(static_cast<double>(ns) / 1000);
  }
  return {row};
}

// Every rank's step table, the maxima of the pipeline stages, and where each rank stands in the
// parallel layout.
class StepTrace : public RecipeOf<Part> {
 public:
  explicit StepTrace(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form form) override {
    Answer answer;
    FindLayout(answer);
    table::Table rows = Rows(form);
    if (form != Form::kTables && rows.rows() > 0) {
      table::Table csv = CsvOf(rows);
      answer.files.push_back(
          {"cluster_step_trace_time.csv",
           [text = table::ToCsv(csv, {.python_doubles = true, .crlf = options_.compat})](
               const auto& sink) { return sink(text); }});
    }
    answer.tables.push_back({std::move(rows), "cluster_step_trace_time.csv"});
    return answer;
  }

 protected:
  Part MapRank(const store::TraceStore& rank) const override {
    Part part;
    const bool is_whole =
        rank.info.format == store::Format::kDb || rank.info.source == store::Source::kMsprof;
    if (options_.compat && is_whole && rank.step_traces.size() == 0) {
      part.rows = WholeAsReference(rank);
    } else {
      for (const StepRow& times : ReadStepTable(RankView(rank))) part.rows.push_back(RowOf(times));
    }
    if (!(options_.compat && rank.comm_times.size() == 0)) part.used = UsedGroups(rank);
    return part;
  }

  void AddRank(const RankFacts& facts, Part part) override {
    book_.Add(facts, part.used);
    if (distributed_args_.empty()) distributed_args_ = facts.distributed_args;
    if (part.rows.empty()) ++ranks_without_;
    for (Row& row : part.rows) {
      if (options_.step && row.step != *options_.step && !options_.compat) continue;
      rows_.emplace_back(facts.rank, std::move(row));
    }
  }

 private:
  void FindLayout(Answer& answer) {
    answer.Note(ranks_without_, "{ranks} {have} no step table");
    if (distributed_args_.empty()) return;
    std::string problem;
    layout_ = ParseLayout(distributed_args_, problem);
    if (layout_ && options_.compat && layout_->cp > 1) layout_.reset();
    if (layout_ && options_.compat) layout_->order = ParallelLayout().order;  // knows no other
    if (!layout_) {
      if (!problem.empty()) answer.notes.push_back(problem + "; the index columns are left out");
      return;
    }
    std::set<int64_t> ranks;
    for (const auto& [rank, row] : rows_) ranks.insert(rank);
    if (!ranks.empty() && *ranks.rbegin() >= layout_->world) {
      answer.notes.push_back(
          fmt::format("distributed_args has a world of {}, but there is a rank {}; the index "
                      "columns are left out",
                      layout_->world, *ranks.rbegin()));
      layout_.reset();
      return;
    }
    if (static_cast<int64_t>(ranks.size()) < layout_->world) {
      answer.notes.push_back(
          fmt::format("{} of {} ranks were captured", ranks.size(), layout_->world));
    }
  }

  table::Table Rows(Form form) const {
    table::Table table("ClusterStepTraceTime");
    for (const char* name : {"step", "type", "index"}) table.AddColumn(name, CellType::kText);
    for (const char* name : kDbNames) table.AddColumn(name, CellType::kDouble);
    const CellType index_type = options_.compat ? CellType::kText : CellType::kInt;
    for (const char* name : IndexNames(form)) table.AddColumn(name, index_type);
    for (const auto& [rank, row] : rows_)
      AppendRow(table, row.step, "rank", std::to_string(rank), row.times_us, rank, form);
    for (const auto& [step, stage, times] : StageRows())
      AppendRow(table, step, "stage", stage.ToText(form != Form::kTables ? ", " : ","), times,
                kNone, form);
    return table;
  }

  // In the database the three columns always exist; the text form has them with a layout only.
  std::vector<const char*> IndexNames(Form form) const {
    if (!layout_ && form != Form::kTables) return {};
    std::vector<const char*> names = {"dp_index", "pp_index", "tp_index"};
    if (!options_.compat) names.insert(names.end(), {"cp_index", "ep_index"});
    return names;
  }

  void AppendRow(table::Table& table, int64_t step, std::string_view type, const std::string& index,
                 const std::vector<double>& times_us, int64_t rank, Form form) const {
    table.AppendText(0, step == kNone ? "" : std::to_string(step));
    table.AppendText(1, type);
    table.AppendText(2, index);
    for (size_t i = 0; i < kTimes; ++i) {
      const bool is_unknown = std::isnan(times_us[i]) && options_.compat;
      table.AppendDouble(3 + i, is_unknown ? 0 : times_us[i]);
    }
    const size_t count = IndexNames(form).size();
    for (size_t i = 0; i < count; ++i) AppendIndex(table, 3 + kTimes + i, rank, i);
  }

  // Where a rank stands; of a stage, or without a layout, not known. The reference writes "NA" and
  // 0.
  void AppendIndex(table::Table& table, size_t column, int64_t rank, size_t which) const {
    const bool is_known = layout_ && rank != kNone;
    const Coordinates at = is_known ? CoordinatesOf(*layout_, rank) : Coordinates();
    const int64_t value = std::array{at.dp, at.pp, at.tp, at.cp, at.ep}[which];
    if (!options_.compat) return table.AppendInt(column, is_known ? value : table::kNull);
    const bool is_stage = layout_ && rank == kNone;
    table.AppendText(column, is_stage ? "NA" : std::to_string(value));
  }

  // The largest of each column over the ranks of a stage.
  std::vector<std::tuple<int64_t, RankSet, std::vector<double>>> StageRows() const {
    std::vector<std::tuple<int64_t, RankSet, std::vector<double>>> out;
    const std::vector<RankSet> stages = InferStages(book_, options_.compat);
    if (stages.empty()) return out;
    std::map<int64_t, size_t> stage_of;
    for (size_t i = 0; i < stages.size(); ++i) {
      for (const int64_t rank : stages[i].ranks()) stage_of.emplace(rank, i);
    }
    std::map<std::pair<size_t, int64_t>, std::vector<double>> largest;
    for (const auto& [rank, row] : rows_) {
      const auto stage = stage_of.find(rank);
      const size_t index = stage == stage_of.end() ? stages.size() : stage->second;
      auto& times = largest[{index, row.step}];
      times.resize(kTimes, 0);
      for (size_t i = 0; i < kTimes; ++i) times[i] = std::fmax(times[i], row.times_us[i]);
    }
    for (auto& [key, times] : largest) {
      const auto& [stage, step] = key;
      out.emplace_back(step, stage < stages.size() ? stages[stage] : RankSet(), std::move(times));
    }
    return out;
  }

  table::Table CsvOf(const table::Table& rows) const {
    table::Table csv("cluster_step_trace_time");
    const std::map<std::string_view, const char*> index_names = {{"dp_index", "DP Index"},
                                                                 {"pp_index", "PP Index"},
                                                                 {"tp_index", "TP Index"},
                                                                 {"cp_index", "CP Index"},
                                                                 {"ep_index", "EP Index"}};
    for (size_t i = 0; i < rows.columns().size(); ++i) {
      table::Column column = rows.columns()[i];
      if (i < 3) {
        column.name = std::array{"Step", "Type", "Index"}[i];
      } else if (i < 3 + kTimes) {
        column.name = kCsvNames[i - 3];
      } else {
        column.name = index_names.at(column.name);
      }
      csv.AddColumn(std::move(column));
    }
    return csv;
  }

  Options options_;
  GroupBook book_;
  std::string distributed_args_;
  std::optional<ParallelLayout> layout_;
  size_t ranks_without_ = 0;
  std::vector<std::pair<int64_t, Row>> rows_;
};

}  // namespace

RecipeSpec StepTraceRecipe() {
  RecipeSpec spec;
  spec.name = "step_trace";
  spec.folder = "StepTrace";
  spec.summary = "Where each rank's steps went, and the pipeline stages";
  spec.is_part_of_mode = true;
  spec.needs.step_table = true;
  spec.make = MakeRecipe<StepTrace>;
  return spec;
}

}  // namespace steplens::analysis::cluster
