#include <fmt/format.h>

#include <algorithm>

#include "analysis/advice/advisor.h"
#include "analysis/advice/rule.h"
#include "base/json_writer.h"
#include "table/html/page.h"

// The one report in its forms.

namespace steplens::analysis {
namespace {

using table::CellType;

std::string JsonText(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

std::string RuleTitle(const Finding& finding, Language language) {
  return Render(Message{fmt::format("rule.{}", RuleName(finding.rule))}, language);
}

double ShareOf(const Finding& finding, double step_ms) {
  if (!finding.saving || finding.is_hidden || step_ms <= 0) return 0;
  return 100 * finding.saving->Best() / step_ms;
}

// "numerics", "memory" or "none": what a change may break.
std::string_view RiskOf(const Finding& finding) {
  switch (finding.rule) {
    case RuleId::kFusion:
    case RuleId::kAffinityApi:
    case RuleId::kAffinityOptimizer:
    case RuleId::kConversion:
      return "numerics";
    case RuleId::kExposedCommunication:
    case RuleId::kSmallPackets:
      return "memory";
    default:
      return "none";
  }
}

std::string SavingText(const Finding& finding) {
  if (!finding.saving || finding.is_hidden) return "";
  return finding.saving->ms ? fmt::format("{:.3f}", *finding.saving->ms)
                            : fmt::format("<= {:.3f}", finding.saving->at_most_ms);
}

std::string RanksJson(const std::vector<int64_t>& ranks) {
  std::string out;
  for (const int64_t rank : ranks) out += fmt::format("{}{}", out.empty() ? "" : ",", rank);
  return "[" + out + "]";
}

std::string PlaceJson(const Place& place) {
  return fmt::format(R"({{"rank":{},"begin_ns":{},"end_ns":{},"name":{}}})", place.rank,
                     place.range.begin_ns, place.range.end_ns, JsonText(place.name));
}

std::string FindingJson(const Finding& finding, double step_ms, Language language) {
  const bool has_saving = finding.saving && !finding.is_hidden;
  std::string places;
  for (const Place& place : finding.places)
    places += (places.empty() ? "" : ",") + PlaceJson(place);
  std::string evidence;
  for (const Finding::Evidence& one : finding.evidence) {
    evidence += fmt::format(R"({}{{"text":{},"sql":{}}})", evidence.empty() ? "" : ",",
                            JsonText(Render(one.text, language)), JsonText(one.query));
  }
  return fmt::format(
      R"({{"rule":"{}","priority":"{}","ranks":{},"subject":{},"reason":{},"advice":{},)"
      R"("saving_ms_per_step":{},"bound_ms_per_step":{},"share_percent":{:.3f},"confidence":"{}",)"
      R"("effort":"{}","risk":"{}","places":[{}],"evidence":[{}]}})",
      RuleName(finding.rule), PriorityOf(finding, step_ms), RanksJson(finding.ranks),
      JsonText(Render(finding.subject, language)),
      JsonText(Render(finding.WholeReason(), language)), JsonText(Render(finding.advice, language)),
      has_saving && finding.saving->ms ? fmt::format("{:.6f}", *finding.saving->ms) : "null",
      has_saving ? fmt::format("{:.6f}", finding.saving->at_most_ms) : "null",
      ShareOf(finding, step_ms), ConfidenceName(finding.confidence), EffortName(finding.effort),
      RiskOf(finding), places, evidence);
}

Message SummaryOf(const AdvisorReport& report) {
  return {"advisor.summary",
          {{"count", std::to_string(report.findings.size())},
           {"step", fmt::format("{:.3f}", report.step_ms)},
           {"saving", fmt::format("{:.3f}", report.cumulative_saving_ms)},
           {"error", fmt::format("{:.2f}", report.replay_error_percent)}}};
}

// Code that a line break does not end.
std::string OneLine(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

// A cell of a Markdown table.
std::string Cell(std::string text) {
  for (size_t at = 0; (at = text.find_first_of("|<>\n\r", at)) != std::string::npos;) {
    const char c = text[at];
    const std::string with = c == '|' ? "\\|" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : " ";
    text.replace(at, 1, with);
    at += with.size();
  }
  return text;
}

}  // namespace

std::string AdvisorJson(const AdvisorReport& report, Language language) {
  std::string findings;
  for (const Finding& finding : report.findings)
    findings += (findings.empty() ? "" : ",\n") + FindingJson(finding, report.step_ms, language);
  std::string warnings;
  for (const Message& warning : report.warnings)
    warnings += (warnings.empty() ? "" : ",") + JsonText(Render(warning, language));
  return fmt::format(
      R"({{"schema":1,"step_ms":{:.6f},"replay_error_percent":{:.3f},"is_trusted":{},)"
      "\"findings\":[{}],\"cumulative_saving_ms_per_step\":{:.6f},\"warnings\":[{}]}}\n",
      report.step_ms, report.replay_error_percent, report.is_trusted, findings,
      report.cumulative_saving_ms, warnings);
}

table::Table AdvisorTable(const AdvisorReport& report, Language language) {
  table::Table out("advisor");
  const size_t priority = out.AddColumn("Priority", CellType::kText);
  const size_t rule = out.AddColumn("Rule", CellType::kText);
  const size_t subject = out.AddColumn("Subject", CellType::kText);
  const size_t ranks = out.AddColumn("Ranks", CellType::kText);
  const size_t saving = out.AddColumn("Saving(ms/step)", CellType::kText);
  const size_t share = out.AddColumn("Share(%)", CellType::kDouble, 2);
  const size_t confidence = out.AddColumn("Confidence", CellType::kText);
  const size_t effort = out.AddColumn("Effort", CellType::kText);
  const size_t reason = out.AddColumn("Reason", CellType::kText);
  const size_t advice = out.AddColumn("Advice", CellType::kText);
  out.MarkShare(share);
  for (const Finding& finding : report.findings) {
    out.AppendText(priority, PriorityOf(finding, report.step_ms));
    out.AppendText(rule, RuleTitle(finding, language));
    out.AppendText(subject, Render(finding.subject, language));
    out.AppendText(ranks, ShortRanks(finding.ranks));
    out.AppendText(saving, SavingText(finding));
    out.AppendDouble(share, ShareOf(finding, report.step_ms));
    out.AppendText(confidence, ConfidenceName(finding.confidence));
    out.AppendText(effort, EffortName(finding.effort));
    out.AppendText(reason, Render(finding.WholeReason(), language));
    out.AppendText(advice, Render(finding.advice, language));
  }
  return out;
}

std::string AdvisorMarkdown(const AdvisorReport& report, Language language) {
  std::string out = fmt::format("# {}\n\n{}\n\n", Render(Message{"advisor.title"}, language),
                                Render(SummaryOf(report), language));
  for (const Message& warning : report.warnings)
    out += fmt::format("> {}\n\n", Cell(Render(warning, language)));
  const table::Table table = AdvisorTable(report, language);
  std::string rule;
  for (const table::Column& column : table.columns()) {
    out += "| " + column.name + " ";
    rule += "|---";
  }
  out += "|\n" + rule + "|\n";
  for (size_t row = 0; row < table.rows(); ++row) {
    for (const table::Column& column : table.columns())
      out += "| " + Cell(table::CellText(column, row)) + " ";
    out += "|\n";
  }
  for (const Finding& finding : report.findings) {
    for (const Finding::Evidence& one : finding.evidence) {
      out += fmt::format("\n* {}: {}\n\n      {}\n", Cell(Render(finding.subject, language)),
                         Cell(Render(one.text, language)), OneLine(one.query));
    }
  }
  return out;
}

std::string AdvisorHtml(const AdvisorReport& report, Language language) {
  namespace html = table::html;
  const auto both = [](const Message& message) {
    return html::Text{English(message), Chinese(message)};
  };
  html::Text notes = both(SummaryOf(report));
  for (const Message& warning : report.warnings) {
    notes.en += "\n\n" + English(warning);
    notes.zh += "\n\n" + Chinese(warning);
  }
  const table::Table findings = AdvisorTable(report, language);
  table::Table evidence("evidence");
  for (const char* name : {"Subject", "Evidence", "SQL"}) evidence.AddColumn(name, CellType::kText);
  for (const Finding& finding : report.findings) {
    for (const Finding::Evidence& one : finding.evidence) {
      evidence.AppendText(0, Render(finding.subject, language));
      evidence.AppendText(1, Render(one.text, language));
      evidence.AppendText(2, one.query);
    }
  }
  html::Page page;
  page.title = both(Message{"advisor.title"});
  page.sections.push_back({.title = both(Message{"advisor.findings"}),
                           .text = notes,
                           .charts = {},
                           .tables = {&findings}});
  page.sections.push_back({.title = both(Message{"advisor.evidence"}),
                           .text = {},
                           .charts = {},
                           .tables = {&evidence}});
  return html::ToHtml(
      page, language == Language::kChinese ? html::Language::kChinese : html::Language::kEnglish);
}

}  // namespace steplens::analysis
