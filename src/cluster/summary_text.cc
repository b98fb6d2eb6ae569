#include "cluster/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace steplens::cluster {
namespace {

using analysis::Finding;
using analysis::Language;
using analysis::Message;
using analysis::RuleId;
using table::Table;

double Number(const Table& table, std::string_view column, size_t row) {
  const table::Column* found = table.Find(column);
  if (found->type == table::CellType::kDouble) return found->doubles[row];
  return static_cast<double>(found->ints[row]);
}

std::string OneDecimal(double value) { return fmt::format("{:.1f}", value); }

// Only a GPU's copies are told from free time.
std::string CopiesText(double percent, Language language) {
  if (percent < 0.05) return {};
  return Render({"summary.copies", {{"percent", OneDecimal(percent)}}}, language);
}

Message RanksText(const Table& overview) {
  const std::string seen = std::to_string(overview.Find("ranksSeen")->ints[0]);
  const int64_t expected = overview.Find("ranksExpected")->ints[0];
  if (expected == table::kNull) return {"summary.rank_count", {{"ranks", seen}}};
  return {"summary.captured", {{"ranks", seen}, {"expected", std::to_string(expected)}}};
}

// How long a step takes: on the device, and with the host where the captures say it.
Message StepText(const Table& overview) {
  const std::string device_ms = fmt::format("{:.3f}", Number(overview, "step(ms)", 0));
  const double step_ms = Number(overview, "stepTime(ms)", 0);
  if (std::isnan(step_ms)) return {"summary.device_step", {{"ms", device_ms}}};
  return {"summary.step", {{"time", fmt::format("{:.3f}", step_ms)}, {"ms", device_ms}}};
}

bool HasCalls(const Table& overview) {
  return Number(overview, "callsComplete", 0) + Number(overview, "callsPartlySeen", 0) > 0;
}

// Empty without communication.
std::string WaitsText(const Table& overview, Language language) {
  if (!HasCalls(overview)) return {};
  const double percent = Number(overview, "waiting(%)", 0);
  if (std::isnan(percent)) return Render({"summary.waiting_unknown"}, language);
  return Render({"summary.waiting", {{"waiting", OneDecimal(percent)}}}, language);
}

std::string JobText(const Table& overview, Language language) {
  const auto number = [&](const char* name) { return Number(overview, name, 0); };
  const auto count = [&](const char* name) {
    return std::to_string(static_cast<int64_t>(number(name)));
  };
  const Message message{"summary.job",
                        {{"ranks", RanksText(overview)},
                         {"steps", count("steps")},
                         {"groups", count("groups")},
                         {"step", StepText(overview)},
                         {"computing", OneDecimal(number("computing(%)"))},
                         {"exposed", OneDecimal(number("communicationNotOverlapped(%)"))},
                         {"copies", CopiesText(number("copies(%)"), language)},
                         {"free", OneDecimal(number("free(%)"))},
                         {"waits", WaitsText(overview, language)}}};
  return Render(message, language) + "\n";
}

// What a finding costs: late ranks make others wait, now or once something slower is fixed.
const char* CostKey(const Finding& finding) {
  if (finding.rule != RuleId::kLateRank && finding.rule != RuleId::kLateGroup)
    return "summary.costs";
  if (finding.is_hidden) return "summary.would_wait";
  return finding.felt_in.empty() ? "summary.waits" : "summary.waits_in";
}

std::string FindingText(const Finding& finding, size_t number, double step_ms, Language language) {
  Message subject = finding.subject;
  if (finding.rule == RuleId::kLateGroup || finding.rule == RuleId::kSmallPackets) {
    subject = {"summary.ranks",
               {{"subject", subject},
                {"count", std::to_string(finding.ranks.size())},
                {"ranks", analysis::ShortRanks(finding.ranks)}}};
  }
  const double ms = finding.saving ? finding.saving->Best() : 0;
  const Message line{CostKey(finding),
                     {{"number", std::to_string(number)},
                      {"subject", subject},
                      {"ms", fmt::format("{:.3f}", ms)},
                      {"percent", OneDecimal(step_ms > 0 ? 100 * ms / step_ms : 0)},
                      {"group", finding.felt_in},
                      {"reason", finding.WholeReason()}}};
  return fmt::format("{}\n   -> {}\n", Render(line, language), Render(finding.advice, language));
}

}  // namespace

const Table* FindTable(std::span<const Export> exports, std::string_view name) {
  for (const Export& one : exports) {
    for (const analysis::cluster::ResultTable& result : one.answer->tables) {
      if (result.table.name() == name) return &result.table;
    }
  }
  return nullptr;
}

std::string SummaryText(std::span<const Export> exports, Language language) {
  const Table* overview = FindTable(exports, "ClusterOverview");
  const analysis::cluster::Answer* summary = nullptr;
  for (const Export& one : exports) {
    if (one.recipe == "summary") summary = one.answer;
  }
  if (overview == nullptr || summary == nullptr) return {};
  std::string text;
  const auto say = [&](const Message& message) { text += Render(message, language) + "\n"; };
  if (overview->rows() == 0) {
    say({"summary.nothing"});
    return text;
  }
  text += JobText(*overview, language);
  const auto partly = static_cast<int64_t>(Number(*overview, "callsPartlySeen", 0));
  if (partly > 0) say({"summary.partly_seen", {{"calls", std::to_string(partly)}}});
  if (HasCalls(*overview) && overview->Find("ranksExpected")->ints[0] == table::kNull)
    say({"warning.group_size_unknown"});
  constexpr size_t kShown = 8;
  const std::vector<Finding>& findings = summary->findings;
  for (size_t i = 0; i < std::min(findings.size(), kShown); ++i)
    text += FindingText(findings[i], i + 1, summary->step_ms, language);
  if (findings.size() > kShown)
    say({"summary.more", {{"count", std::to_string(findings.size() - kShown)}}});
  if (!findings.empty() && partly > 0) say({"summary.estimated"});
  if (findings.empty()) say({"summary.none"});
  return text;
}

}  // namespace steplens::cluster
