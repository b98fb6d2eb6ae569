#include "analysis/compare/runs/gate_reports.h"

#include <fmt/format.h>

#include "analysis/compare/runs/amounts.h"
#include "table/html/text.h"

namespace steplens::analysis::runs {
namespace {

// Text in a cell of a Markdown table. Names come from traces: nothing of them is markup.
std::string CellOf(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\|*_`<>[]#&").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

bool IsFailure(RuleState state, bool is_strict) {
  return state == RuleState::kBreached ||
         (is_strict && (state == RuleState::kUndecided || state == RuleState::kNothingMatched));
}

std::string JoinedLines(const RuleOutcome& rule) {
  return fmt::format("{}", fmt::join(rule.Lines(), "\n"));
}

void AddDifferenceRow(const Difference& one, std::string& out) {
  out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", one.Kind(), CellOf(one.name),
                     AmountText(one.shift.a, one.unit), AmountText(one.shift.b, one.unit),
                     SignedAmountText(one.shift.change, one.unit), PercentText(one.relative()),
                     ProbabilityText(one.adjusted_p), VerdictName(one.verdict));
}

constexpr std::string_view kDifferenceHead =
    "| kind | name | base | new | change | % | p | verdict |\n|---|---|--:|--:|--:|--:|--:|---|\n";

}  // namespace

std::string ToJunit(const GateOutcome& gate, std::string_view base, std::string_view run,
                    bool is_strict) {
  size_t failures = 0;
  size_t skipped = 0;
  std::string cases;
  for (const RuleOutcome& rule : gate.rules) {
    cases += fmt::format("  <testcase classname=\"steplens.compare\" name=\"{}\"",
                         table::html::Escape(rule.rule.text));
    const std::string lines = table::html::Escape(JoinedLines(rule));
    if (IsFailure(rule.state, is_strict)) {
      ++failures;
      cases += fmt::format(">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
                           StateName(rule.state), lines);
    } else if (rule.state != RuleState::kPassed) {
      ++skipped;
      cases += fmt::format(">\n    <skipped message=\"{}\"/>\n  </testcase>\n", lines);
    } else {
      cases += "/>\n";
    }
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"steplens compare: {} against {}\" tests=\"{}\" failures=\"{}\" "
      "errors=\"0\" skipped=\"{}\">\n{}</testsuite>\n",
      table::html::Escape(run), table::html::Escape(base), gate.rules.size(), failures, skipped,
      cases);
}

std::string ToMarkdown(const GateOutcome& gate, const RunComparison& comparison,
                       std::string_view base, std::string_view run) {
  constexpr size_t kMostRows = 10;
  std::string out =
      fmt::format("## steplens compare\n\nBase: {}  \nNew: {}\n\n", CellOf(base), CellOf(run));
  if (!gate.rules.empty()) {
    out += fmt::format("**Gate: {}**\n\n| rule | result | details |\n|---|---|---|\n",
                       gate.is_breached() ? "breached" : "passed");
    for (const RuleOutcome& rule : gate.rules) {
      std::string details;
      for (const Difference& one : rule.found)
        details += (details.empty() ? "" : "<br>") + CellOf(DescribeDifference(one));
      if (details.empty() && !rule.closest.empty())
        details = CellOf(DescribeDifference(rule.closest.front()));
      out +=
          fmt::format("| {} | {} | {} |\n", CellOf(rule.rule.text), StateName(rule.state), details);
    }
    out += "\n";
  }
  out += "### Step\n\n";
  out += kDifferenceHead;
  for (const Difference& part : comparison.parts) AddDifferenceRow(part, out);
  if (!comparison.rows.empty()) {
    out += "\n### Largest changes\n\n";
    out += kDifferenceHead;
    for (size_t i = 0; i < comparison.rows.size() && i < kMostRows; ++i)
      AddDifferenceRow(comparison.rows[i], out);
  }
  if (!comparison.ranks.empty()) {
    out += fmt::format("\n### Ranks, paired by {}\n\n", PairedByName(comparison.pairing.by));
    out += kDifferenceHead;
    for (size_t i = 0; i < comparison.ranks.size() && i < kMostRows; ++i)
      AddDifferenceRow(comparison.ranks[i], out);
  }
  for (const std::string& note : comparison.notes) out += fmt::format("\n* {}", CellOf(note));
  if (!comparison.notes.empty()) out += "\n";
  return out;
}

}  // namespace steplens::analysis::runs
