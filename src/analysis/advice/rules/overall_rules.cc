#include <fmt/format.h>

#include <algorithm>

#include "analysis/advice/rules/rules.h"
#include "analysis/cells.h"
#include "analysis/compare/overall_sheet.h"

// How the captured window divides, and copies between kernels as one part of it.

namespace steplens::analysis {
namespace {

std::string Ms(int64_t ns) { return fmt::format("{:.3f}", NsToMs(ns)); }
std::string PercentOf(int64_t part_ns, int64_t whole_ns) {
  return fmt::format("{:.1f}",
                     100 * Share(static_cast<double>(part_ns), static_cast<double>(whole_ns)));
}

table::Table OverallTable(const compare::Overall& overall, std::string name) {
  TableRows rows(std::move(name), {TextColumn("Performance Index"), NumberColumn("Duration(ms)", 3),
                                   NumberColumn("Duration Ratio(%)", 2)});
  for (const compare::OverallRow& row : compare::CompareOverall(overall, overall, false)) {
    rows.Add(std::string(static_cast<size_t>(row.level) * 2, ' ') + row.label, row.base.ms,
             100 * row.base.share);
  }
  return rows.Take();
}

Message OverallAdvice(const RankEvidence& rank, const compare::Overall& overall) {
  const auto whole = static_cast<double>(overall.e2e_ns);
  const double idle = Share(static_cast<double>(overall.free_ns()), whole);
  const double exposed = Share(static_cast<double>(overall.uncovered_ns), whole);
  const bool is_idle = idle > rank.thresholds().overall_idle_share;
  const bool is_exposed = exposed > rank.thresholds().overall_communication_share;
  if (is_idle && is_exposed) {
    return {"finding.overall.both",
            {{"idle", fmt::format("{:.1f}", 100 * idle)},
             {"exposed", fmt::format("{:.1f}", 100 * exposed)}}};
  }
  if (is_idle) return {"finding.overall.idle", {{"percent", fmt::format("{:.1f}", 100 * idle)}}};
  if (is_exposed)
    return {"finding.overall.exposed", {{"percent", fmt::format("{:.1f}", 100 * exposed)}}};
  return {"finding.overall.computing"};
}

}  // namespace

std::vector<Finding> SummariseOverall(const RankEvidence& rank) {
  const std::optional<compare::Overall>& overall = rank.overall();
  if (!overall) return {};
  const int64_t e2e_ns = overall->e2e_ns;
  Finding finding = rank.Make(RuleId::kOverall, {"finding.overall"},
                              {"finding.overall.reason",
                               {{"e2e", Ms(e2e_ns)},
                                {"computing", Ms(overall->computing_ns)},
                                {"computing_percent", PercentOf(overall->computing_ns, e2e_ns)},
                                {"exposed", Ms(overall->uncovered_ns)},
                                {"exposed_percent", PercentOf(overall->uncovered_ns, e2e_ns)},
                                {"free", Ms(overall->free_ns())},
                                {"free_percent", PercentOf(overall->free_ns(), e2e_ns)}}},
                              OverallAdvice(rank, *overall));
  finding.confidence = Confidence::kMeasured;
  finding.details = {OverallTable(*overall, rank.DetailName(RuleId::kOverall))};
  finding.evidence = {{{"evidence.window", {{"time", Ms(e2e_ns)}}},
                       fmt::format("SELECT * FROM breakdown WHERE rank = {}", rank.rank())}};
  return {finding};
}

std::vector<Finding> FindSdmaCopies(const RankEvidence& rank) {
  const std::optional<compare::Overall>& overall = rank.overall();
  if (!overall) return {};
  const int64_t copies_ns = overall->sdma.ns + overall->tensor_move.ns;
  const auto step_ns = static_cast<double>(rank.times().step_ns);
  if (copies_ns <= 0 || step_ns <= 0 ||
      static_cast<double>(copies_ns) < rank.thresholds().sdma_copy_step_share * step_ns) {
    return {};
  }
  Finding finding = rank.Make(
      RuleId::kSdmaCopy, {"finding.sdma_copy"},
      {"finding.sdma_copy.reason",
       {{"time", SentenceTime(rank.PerStepUs(copies_ns))}, {"percent", rank.Percent(copies_ns)}}},
      {"finding.sdma_copy.advice"});
  finding.saving = rank.AtMost(copies_ns, rank.times().step_ns);
  finding.confidence = Confidence::kEstimated;
  finding.evidence = {
      {{"evidence.kernels",
        {{"count", std::to_string(overall->sdma.count + overall->tensor_move.count)},
         {"time", SentenceTime(rank.PerStepUs(copies_ns))}}},
       fmt::format("SELECT * FROM slices WHERE rank = {} AND (category LIKE '%SDMA%' OR category "
                   "LIKE '%PCIE_DMA%' OR name LIKE '%TensorMove%')",
                   rank.rank())}};
  return {finding};
}

}  // namespace steplens::analysis
