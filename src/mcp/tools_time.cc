#include <fmt/format.h>

#include <algorithm>

#include "analysis/api/api_statistics.h"
#include "analysis/breakdown/breakdown.h"
#include "analysis/operators/kernel_statistics.h"
#include "analysis/operators/operator_tables.h"
#include "base/kernel_label.h"
#include "base/number.h"
#include "mcp/rank_times.h"
#include "mcp/tool.h"

namespace steplens::mcp {
namespace {

// Ranks and steps that were asked for; both must be there.
Result<analysis::Selection> SelectionOf(const ToolCall& call, const Capture& capture) {
  analysis::Selection out;
  SL_ASSIGN_OR_RETURN(out.rank, call.args.MaybeInt("rank"));
  SL_ASSIGN_OR_RETURN(out.step, call.args.MaybeInt("step"));
  if (out.rank) {
    SL_ASSIGN_OR_RETURN([[maybe_unused]] const size_t index, capture.IndexOf(*out.rank));
  }
  if (!out.step) return out;
  for (size_t i = 0; i < capture.job->ranks.size(); ++i) {
    for (const analysis::StepRange& step : capture.Facts(i).steps()) {
      if (step.step == *out.step) return out;
    }
  }
  return Error{ErrorCode::kNotFound, fmt::format("there is no step {}; see `open`", *out.step)};
}

// " WHERE rank = 3 AND step = 12"
std::string WhereText(const analysis::Selection& selection) {
  std::string out;
  if (selection.rank) out += fmt::format(" WHERE rank = {}", *selection.rank);
  if (selection.step)
    out += fmt::format(" {} step = {}", out.empty() ? "WHERE" : "AND", *selection.step);
  return out;
}

// What says most of the input, as `steplens ops` chooses.
std::string BestRows(const Capture& capture) {
  bool has_device = false;
  for (size_t i = 0; i < capture.job->ranks.size(); ++i) {
    const analysis::Platform platform = capture.Facts(i).platform();
    has_device = has_device || platform != analysis::Platform::kHostOnly;
    const auto& types = capture.job->ranks[i].kernels.type;
    if (platform == analysis::Platform::kAscend &&
        std::any_of(types.begin(), types.end(),
                    [](StringId type) { return type != StringId::kEmpty; }))
      return "type";
  }
  return has_device ? "name" : "operator";
}

table::Table OperatorsTable(const store::Job& job, const std::string& by,
                            const analysis::Selection& selection) {
  if (by == "operator") return analysis::HostOpStatistics(job, selection);
  if (by == "api") return analysis::ApiStatistics(job, {.selection = selection, .per_rank = false});
  analysis::KernelStatisticsOptions options;
  options.selection = selection;
  if (by == "name") options.by = analysis::KernelGrouping::kName;
  if (by == "shape") options.by = analysis::KernelGrouping::kShape;
  if (by == "core") options.by = analysis::KernelGrouping::kCore;
  return analysis::KernelStatistics(job, options);
}

// The SQL table with the same numbers per rank; of a step, the rows they are made of.
std::string OperatorsQuery(const std::string& by, const analysis::Selection& selection) {
  if (by == "operator" || by == "api") {
    const analysis::Selection rank_only{selection.rank, std::nullopt};
    return fmt::format("SELECT * FROM {}{}", by == "api" ? "api_stats" : "operator_stats",
                       WhereText(rank_only));
  }
  if (!selection.step) {
    return fmt::format("SELECT * FROM {}{}", by == "type" ? "op_stats" : "kernel_stats_by_" + by,
                       WhereText(selection));
  }
  return fmt::format("SELECT {}, count(*), sum(dur_ns) FROM kernels{} GROUP BY 1 ORDER BY 3 DESC",
                     by == "shape" ? "name, input_shapes" : by, WhereText(selection));
}

// Short names of kernels: templates of C++ are long.
table::Table WithLabels(const table::Table& table) {
  table::Table out(table.name());
  for (table::Column column : table.columns()) {
    if (column.name == "Name" || column.name == "OP Type")
      std::transform(column.texts.begin(), column.texts.end(), column.texts.begin(), KernelLabel);
    out.AddColumn(std::move(column));
  }
  return out;
}

}  // namespace

Status RunBreakdown(const ToolCall& call, Answer& answer) {
  SL_ASSIGN_OR_RETURN(const Window window, WindowOf(call, 16));
  SL_ASSIGN_OR_RETURN(const Capture capture, call.OpenPath());
  SL_ASSIGN_OR_RETURN(const analysis::Selection selection, SelectionOf(call, capture));
  if (selection.rank || selection.step) {
    answer.Line("times in us, as in step_trace_time.csv");
    answer.Table(analysis::StepBreakdown(*capture.job, {.selection = selection}), window.limit,
                 window.offset);
  } else {
    const std::vector<RankTimes> ranks = RankTimesOf(capture);
    AddRankTimes(ranks, answer);
    answer.Line("means per step:");
    answer.Table(RankTimesTable(ranks), window.limit, window.offset);
  }
  answer.Query("SELECT * FROM breakdown" + WhereText(selection));
  return {};
}

Status RunOperators(const ToolCall& call, Answer& answer) {
  SL_ASSIGN_OR_RETURN(const Window window, WindowOf(call, 12));
  SL_ASSIGN_OR_RETURN(const Capture capture, call.OpenPath());
  SL_ASSIGN_OR_RETURN(const analysis::Selection selection, SelectionOf(call, capture));
  SL_ASSIGN_OR_RETURN(const std::string by, call.args.TextOr("by", BestRows(capture)));
  answer.Line(fmt::format(
      "by {}, sums over {} and {}", by,
      selection.rank ? fmt::format("rank {}", *selection.rank) : std::string("all ranks"),
      selection.step ? fmt::format("step {}", *selection.step) : std::string("all steps")));
  answer.Table(WithLabels(OperatorsTable(*capture.job, by, selection)), window.limit,
               window.offset);
  if (by != "operator" && by != "api") {
    analysis::KernelStatisticsOptions options;
    options.selection = selection;
    const analysis::DurationStats left_out = analysis::LeftOutCommunication(*capture.job, options);
    if (left_out.count > 0)
      answer.Line(fmt::format("not listed: {} communication operations, {} us", left_out.count,
                              FormatNsAsUs(left_out.total_ns)));
  }
  answer.Query(OperatorsQuery(by, selection));
  return {};
}

}  // namespace steplens::mcp
