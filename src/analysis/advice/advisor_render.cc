#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/advice/advisor.h"
#include "analysis/advice/rule.h"
#include "base/json_writer.h"
#include "table/html/page.h"
#include "table/json.h"

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

// The numbers of an evidence by name: {"count":"7","time":"1.2 ms"}.
std::string ValuesJson(const Message& text) {
  std::string out;
  for (const MessageArg& arg : text.args) {
    if (!arg.message.empty()) continue;
    out += fmt::format("{}{}:{}", out.empty() ? "" : ",", JsonText(arg.name), JsonText(arg.text));
  }
  return "{" + out + "}";
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
    evidence += fmt::format(R"({}{{"text":{},"value":{},"sql":{}}})", evidence.empty() ? "" : ",",
                            JsonText(Render(one.text, language)), ValuesJson(one.text),
                            JsonText(one.query));
  }
  return fmt::format(
      R"({{"rule":"{}","priority":"{}","ranks":{},"subject":{},"reason":{},"advice":{},)"
      R"("saving_ms_per_step":{},"bound_ms_per_step":{},"share_percent":{:.3f},"confidence":"{}",)"
      R"("effort":"{}","risk":"{}","verify":{},"places":[{}],"evidence":[{}]}})",
      RuleName(finding.rule), PriorityOf(finding, step_ms), RanksJson(finding.ranks),
      JsonText(Render(finding.subject, language)),
      JsonText(Render(finding.WholeReason(), language)), JsonText(Render(finding.advice, language)),
      has_saving && finding.saving->ms ? fmt::format("{:.6f}", *finding.saving->ms) : "null",
      has_saving ? fmt::format("{:.6f}", finding.saving->at_most_ms) : "null",
      ShareOf(finding, step_ms), ConfidenceName(finding.confidence), EffortName(finding.effort),
      RiskName(RuleOf(finding.rule).risk), JsonText(Render(finding.verify, language)), places,
      evidence);
}

Message SummaryOf(const AdvisorReport& report) {
  return {"advisor.summary",
          {{"count", std::to_string(report.findings.size())},
           {"step", fmt::format("{:.3f}", report.step_ms)},
           {"saving", fmt::format("{:.3f}", report.cumulative_saving_ms)},
           {"error", fmt::format("{:.2f}", report.replay_error_percent)}}};
}

// What the first findings save, as bars; none where nothing is known to be saved.
std::vector<table::html::Chart> SavingCharts(const AdvisorReport& report, Language language) {
  constexpr size_t kShownBars = 10;
  table::html::BarChart chart;
  chart.value_label = {English(Message{"advisor.column.saving"}),
                       Chinese(Message{"advisor.column.saving"})};
  chart.direction = table::html::Direction::kHorizontal;
  table::html::Series series;
  series.name = chart.value_label;
  for (const Finding& finding : report.findings) {
    if (!finding.saving || finding.is_hidden || finding.saving->Best() <= 0) continue;
    if (chart.keys.size() == kShownBars) break;
    chart.keys.push_back(RuleTitle(finding, language));
    series.values.push_back(finding.saving->Best());
  }
  if (chart.keys.empty()) return {};
  chart.series.push_back(std::move(series));
  return {{chart.value_label, std::move(chart)}};
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
  std::string blind;
  for (const Blindness& one : report.blind) {
    std::string rules;
    for (const std::string& rule : one.rules) rules += (rules.empty() ? "" : ",") + JsonText(rule);
    blind += fmt::format(R"({}{{"missing":{},"rules":[{}],"text":{}}})", blind.empty() ? "" : ",",
                         JsonText(one.missing), rules, JsonText(Render(one.text, language)));
  }
  std::string tables;
  const AdvisorWorkbook book = AdvisorSheets(report, language);
  for (size_t i = 1; i < book.tables.size(); ++i) {
    tables += fmt::format("{}{}:{}", tables.empty() ? "" : ",", JsonText(book.names[i]),
                          table::ToJson(book.tables[i]));
  }
  return fmt::format(
      R"({{"schema":1,"step_ms":{:.6f},"replay_error_percent":{:.3f},"is_trusted":{},)"
      "\"findings\":[{}],\"cumulative_saving_ms_per_step\":{:.6f},\"warnings\":[{}],"
      "\"blind\":[{}],\"tables\":{{{}}}}}\n",
      report.step_ms, report.replay_error_percent, report.is_trusted, findings,
      report.cumulative_saving_ms, warnings, blind, tables);
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

table::Table AdvisorSummary(const AdvisorReport& report, Language language) {
  const auto title = [&](const char* key) { return Render(Message{key}, language); };
  table::Table out("advisor");
  const size_t number = out.AddColumn("#", CellType::kInt);
  const size_t priority = out.AddColumn(title("advisor.column.priority"), CellType::kText);
  const size_t rule = out.AddColumn(title("advisor.column.finding"), CellType::kText);
  const size_t ranks = out.AddColumn(title("advisor.column.ranks"), CellType::kText);
  const size_t saving = out.AddColumn(title("advisor.column.saving"), CellType::kText);
  const size_t reason = out.AddColumn(title("advisor.column.reason"), CellType::kText);
  const size_t advice = out.AddColumn(title("advisor.column.advice"), CellType::kText);
  int64_t count = 0;
  for (const Finding& finding : report.findings) {
    out.AppendInt(number, ++count);
    out.AppendText(
        priority,
        Render(Message{fmt::format("advisor.priority.{}", PriorityOf(finding, report.step_ms))},
               language));
    out.AppendText(rule, fmt::format("{}: {}", RuleTitle(finding, language),
                                     Render(finding.subject, language)));
    out.AppendText(ranks, ShortRanks(finding.ranks));
    out.AppendText(saving, SavingText(finding));
    out.AppendText(reason, Render(finding.WholeReason(), language));
    out.AppendText(advice, Render(finding.advice, language));
  }
  return out;
}

AdvisorWorkbook AdvisorSheets(const AdvisorReport& report, Language language) {
  AdvisorWorkbook book;
  book.tables.push_back(AdvisorTable(report, language));
  book.names.push_back(Render(Message{"advisor.problems"}, language));
  for (const table::Table& one : report.tables) {
    book.tables.push_back(one);
    book.names.push_back(one.name());
  }
  for (const Finding& finding : report.findings) {
    // Comparisons stand among the tables already.
    if (finding.rule == RuleId::kComparison) continue;
    for (const table::Table& one : finding.details) {
      book.tables.push_back(one);
      book.names.push_back(one.name());
    }
  }
  // Memory calls and packets have several tables of one rank.
  std::map<std::string, int> seen;
  for (std::string& name : book.names) {
    const int times = ++seen[name];
    if (times > 1) name += fmt::format(" {}", times);
  }
  return book;
}

std::string AdvisorMarkdown(const AdvisorReport& report, Language language) {
  std::string out = fmt::format("# {}\n\n{}\n\n", Render(Message{"advisor.title"}, language),
                                Render(SummaryOf(report), language));
  for (const Message& warning : report.warnings)
    out += fmt::format("> {}\n\n", Cell(Render(warning, language)));
  for (const Blindness& blind : report.blind)
    out += fmt::format("> {}\n\n", Cell(Render(blind.text, language)));
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
  for (const Blindness& blind : report.blind) {
    notes.en += "\n\n" + English(blind.text);
    notes.zh += "\n\n" + Chinese(blind.text);
  }
  page.sections.push_back({.title = both(Message{"advisor.findings"}),
                           .text = notes,
                           .charts = SavingCharts(report, language),
                           .tables = {&findings}});
  page.sections.push_back({.title = both(Message{"advisor.evidence"}),
                           .text = {},
                           .charts = {},
                           .tables = {&evidence}});
  const AdvisorWorkbook book = AdvisorSheets(report, language);
  constexpr size_t kMostHtmlRows = 2000;  // what is more stands in the workbook
  for (size_t i = 1; i < book.tables.size(); ++i) {
    page.sections.push_back({.title = {book.names[i], book.names[i]},
                             .text = {},
                             .charts = {},
                             .tables = {&book.tables[i]},
                             .max_rows = kMostHtmlRows});
  }
  return html::ToHtml(
      page, language == Language::kChinese ? html::Language::kChinese : html::Language::kEnglish);
}

}  // namespace steplens::analysis
