#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/advice/advisor.h"
#include "analysis/advice/rule.h"
#include "analysis/compare/runs/run_tables.h"
#include "base/team.h"
#include "cluster/run_summaries.h"
#include "mcp/tool.h"

namespace steplens::mcp {
namespace {

using analysis::AdvisorReport;
using analysis::English;
using analysis::Finding;

std::string SavingOf(const Finding& finding, double step_ms) {
  if (finding.is_hidden) return "saves nothing until something slower is fixed";
  if (!finding.saving) return "saving unknown";
  const double best_ms = finding.saving->Best();
  const double share = step_ms > 0 ? 100 * best_ms / step_ms : 0;
  return fmt::format("{} {:.3f} ms per step ({:.1f} %, {})",
                     finding.saving->ms ? "saves" : "saves at most", best_ms, share,
                     analysis::ConfidenceName(finding.confidence));
}

std::string PlaceText(const analysis::Place& place) {
  std::string out =
      fmt::format("rank {}, {} to {} ns", place.rank, place.range.begin_ns, place.range.end_ns);
  if (place.slice != store::kNoSlice)
    out += fmt::format(", slice_id {}", static_cast<uint32_t>(place.slice));
  return place.name.empty() ? out : fmt::format("{} ({})", out, Shortened(place.name, 60));
}

void AddFinding(size_t number, const Finding& finding, double step_ms, Answer& answer) {
  constexpr size_t kMostEvidence = 2;
  const std::string title =
      English(analysis::Message{fmt::format("rule.{}", analysis::RuleName(finding.rule))});
  answer.Line(fmt::format("{}. [{}] {} ({}): {}", number, analysis::PriorityOf(finding, step_ms),
                          title, analysis::RuleName(finding.rule), English(finding.subject)));
  answer.Line(Shortened("   why: " + English(finding.WholeReason()), 500));
  answer.Line(Shortened("   do: " + English(finding.advice), 400));
  answer.Line("   " + SavingOf(finding, step_ms));
  if (!finding.ranks.empty()) answer.Line("   ranks: " + analysis::ShortRanks(finding.ranks));
  if (!finding.places.empty()) answer.Line("   look at: " + PlaceText(finding.places.front()));
  for (size_t i = 0; i < std::min(finding.evidence.size(), kMostEvidence); ++i) {
    const Finding::Evidence& evidence = finding.evidence[i];
    answer.Line(Shortened("   evidence: " + English(evidence.text), 300));
    if (!evidence.query.empty()) answer.Line(Shortened("   sql: " + evidence.query, 400));
  }
}

// The largest finding of each rule: many groups with one fault must not hide the next fault. All of
// them if one rule was asked for.
void AddFindings(const AdvisorReport& report, size_t top, bool is_one_rule, Answer& answer) {
  std::vector<const Finding*> shown;
  std::map<std::string_view, size_t> more;  // by rule
  std::string smaller;
  for (const Finding& finding : report.findings) {
    const std::string_view name = analysis::RuleName(finding.rule);
    const bool is_known = std::any_of(
        shown.begin(), shown.end(), [&](const Finding* one) { return one->rule == finding.rule; });
    if (is_known && !is_one_rule) {
      ++more[name];
    } else if (shown.size() < top) {
      shown.push_back(&finding);
    } else if (smaller.find(name) == std::string::npos) {
      smaller += fmt::format("{}{}", smaller.empty() ? "" : ", ", name);
    }
  }
  for (size_t i = 0; i < shown.size(); ++i) {
    AddFinding(i + 1, *shown[i], report.step_ms, answer);
    const std::string_view name = analysis::RuleName(shown[i]->rule);
    if (more.contains(name))
      answer.Line(fmt::format("   and {} more of this rule: findings {{\"rule\":\"{}\"}}",
                              more[name], name));
  }
  if (!smaller.empty()) answer.Line(fmt::format("smaller ones: {}", smaller));
}

Status CheckRule(const std::string& name) {
  std::vector<std::string_view> names;
  for (const analysis::RuleSpec& rule : analysis::Rules())
    names.push_back(analysis::RuleName(rule.id));
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return {};
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("there is no rule '{}'; rules: {}", name, fmt::join(names, ", "))};
}

// What a person would look at first of a comparison.
table::Table WithoutRanges(const table::Table& table) {
  constexpr std::string_view kLeftOut[] = {"Low", "High", "p"};
  table::Table out(table.name());
  for (const table::Column& column : table.columns()) {
    if (std::find(std::begin(kLeftOut), std::end(kLeftOut), column.name) == std::end(kLeftOut))
      out.AddColumn(column);
  }
  return out;
}

}  // namespace

Status RunFindings(const ToolCall& call, Answer& answer) {
  SL_ASSIGN_OR_RETURN(const int64_t top, call.args.IntIn("top", 4, 1, 50));
  SL_ASSIGN_OR_RETURN(const std::string rule, call.args.TextOr("rule", ""));
  SL_RETURN_IF_ERROR(CheckRule(rule));
  SL_ASSIGN_OR_RETURN(const Capture capture, call.OpenPath());
  analysis::AdvisorOptions options;
  if (!rule.empty()) options.only.insert(rule);
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> rank, call.args.MaybeInt("rank"));
  if (rank) {
    SL_ASSIGN_OR_RETURN([[maybe_unused]] const size_t index, capture.IndexOf(*rank));
    options.ranks.insert(*rank);
  }
  SL_ASSIGN_OR_RETURN(const AdvisorReport report, analysis::RunAdvisor(*capture.job, options));
  answer.Line(fmt::format(
      "{} findings; a step takes {:.3f} ms; all that can be replayed save {:.3f} ms together "
      "(replay error {:.2f} %{})",
      report.findings.size(), report.step_ms, report.cumulative_saving_ms,
      report.replay_error_percent, report.is_trusted ? "" : ": savings are rough estimates"));
  AddFindings(report, static_cast<size_t>(top), !rule.empty(), answer);
  std::string missing;
  for (const analysis::Blindness& blind : report.blind)
    missing += (missing.empty() ? "" : ", ") + blind.missing;
  if (!missing.empty()) answer.Line("not recorded, so some rules saw nothing: " + missing);
  for (const analysis::Message& warning : report.warnings) answer.Line("note: " + English(warning));
  if (!rank) answer.Query("SELECT * FROM findings");
  return {};
}

Status RunCompare(const ToolCall& call, Answer& answer) {
  SL_ASSIGN_OR_RETURN(const std::string baseline, call.args.Text("baseline"));
  SL_ASSIGN_OR_RETURN(const Window window, WindowOf(call, 10));
  SL_ASSIGN_OR_RETURN(const std::string base_path, call.captures.Admit(baseline));
  SL_ASSIGN_OR_RETURN(const Capture capture, call.OpenPath());
  const std::string path = capture.open->real_path;
  ThreadPool pool(0);
  const std::unique_ptr<Team> team = MakeLocalTeam(pool);
  const cluster::SummariseOptions options{.use_cache = call.captures.use_cache()};
  SL_ASSIGN_OR_RETURN(const cluster::SummarisedRun base,
                      cluster::SummariseRun(*team, pool, base_path, options));
  SL_ASSIGN_OR_RETURN(const cluster::SummarisedRun run,
                      cluster::SummariseRun(*team, pool, path, options));
  const analysis::runs::RunComparison comparison =
      analysis::runs::CompareRuns(base.summary, run.summary);
  for (const table::Table& table :
       analysis::runs::ComparisonTables(comparison, base.summary, run.summary)) {
    if (table.rows() > 0)
      answer.Table(WithoutRanges(table), window.limit, window.offset, table.name());
  }
  for (const std::string& note : comparison.notes) answer.Line("note: " + note);
  answer.Line("same numbers: steplens compare -d NEW -bp BASE");
  return {};
}

}  // namespace steplens::mcp
