#include "analysis/verify/verify.h"

#include <iterator>
#include <span>

#include "analysis/breakdown/breakdown.h"
#include "analysis/verify/checks.h"

namespace steplens::analysis {
namespace {

using Check = CheckResult (*)(const verify::Context&);

constexpr Check kChecks[] = {
    verify::CheckPartsFillStage,
    verify::CheckOverlapAddsUp,
    verify::CheckComputingIsUnion,
    verify::CheckCommunicationIsUnion,
    verify::CheckCommunicationIsElapse,
    verify::CheckOverlapTrack,
    verify::CheckOpStatistic,
    verify::CheckApiStatistic,
    verify::CheckHostOps,
    verify::CheckHostOpOrder,
    verify::CheckHostOpTimes,
    verify::CheckDeviceSelf,
    verify::CheckDeviceSelfAiCore,
    verify::CheckOpFlows,
    verify::CheckLaunchFlows,
    verify::CheckKernelStarts,
    verify::CheckKernelDurations,
    verify::CheckL2Cache,
    verify::CheckMemorySums,
    verify::CheckAllocationTotals,
    verify::CheckAllocationDurations,
    verify::CheckAllocationBalance,
    verify::CheckCommTimes,
    verify::CheckCommMatrix,
    verify::CheckDbLaunches,
    verify::CheckExcludeReceive,
    verify::CheckStepValues,
    verify::CheckStepMarks,
    verify::CheckStepsOnce,
    verify::CheckKernelOrder,
    verify::CheckKernelWait,
    verify::CheckKernelStep,
    verify::CheckStreamOverlap,
    verify::CheckLaunchOrder,
    verify::CheckLaunchedKernels,
    verify::CheckCopySizes,
    verify::CheckBreakdownParts,
    verify::CheckModuleSamples,
    verify::CheckCommTotals,
    verify::CheckCommBandwidth,
    verify::CheckCommLinks,
    verify::CheckCommOpsInTrace,
    verify::CheckDanglingFlows,
    verify::CheckDurations,
    verify::CheckSession,
    verify::CheckRankId,
    verify::CheckImportIssues,
};

std::vector<CheckResult> RunChecks(const verify::Context& context) {
  std::vector<CheckResult> results;
  results.reserve(std::size(kChecks) + 1);
  for (const Check check : kChecks) results.push_back(check(context));
  return results;
}

std::string DetailText(const CheckResult& result) {
  std::string text = result.detail;
  for (const std::string& row : result.offending) text += "; " + row;
  return text;
}

}  // namespace

const char* CheckStateName(CheckState state) {
  switch (state) {
    case CheckState::kHolds:
      return "holds";
    case CheckState::kBroken:
      return "broken";
    case CheckState::kNotApplicable:
      return "not applicable";
  }
  return "";
}

std::vector<CheckResult> VerifyRank(const store::TraceStore& store, const VerifyOptions& options) {
  return RunChecks(verify::Context(store, options));
}

std::vector<std::vector<CheckResult>> VerifyJob(const store::Job& job,
                                                const VerifyOptions& options) {
  std::vector<std::vector<CheckResult>> results;
  results.reserve(job.ranks.size());
  for (const store::TraceStore& rank : job.ranks) {
    const verify::Context context(rank, options);
    results.push_back(RunChecks(context));
    BreakdownOptions as_in_file;
    as_in_file.rule = context.is_db() ? BreakdownRule::kDb : BreakdownRule::kText;
    results.back().push_back(verify::CheckBreakdown(context, BreakDown(context.rank, as_in_file)));
  }
  return results;
}

table::Table VerifyTable(const store::Job& job, const VerifyOptions& options) {
  table::Table table("verify");
  const size_t rank_column = table.AddColumn("Rank", table::CellType::kInt);
  const size_t check_column = table.AddColumn("Check", table::CellType::kText);
  const size_t state_column = table.AddColumn("State", table::CellType::kText);
  const size_t title_column = table.AddColumn("Title", table::CellType::kText);
  const size_t detail_column = table.AddColumn("Detail", table::CellType::kText);
  const std::vector<std::vector<CheckResult>> results = VerifyJob(job, options);
  for (size_t rank = 0; rank < results.size(); ++rank) {
    for (const CheckResult& result : results[rank]) {
      table.AppendInt(rank_column, job.ranks[rank].info.rank);
      table.AppendText(check_column, result.id);
      table.AppendText(state_column, CheckStateName(result.state));
      table.AppendText(title_column, result.title);
      table.AppendText(detail_column, DetailText(result));
    }
  }
  return table;
}

}  // namespace steplens::analysis
