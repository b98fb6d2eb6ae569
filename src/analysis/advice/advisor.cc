#include "analysis/advice/advisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/advice/change.h"
#include "analysis/advice/rank_evidence.h"
#include "analysis/advice/rule.h"
#include "analysis/cluster/summary/job_findings.h"
#include "analysis/whatif/whatif_answer.h"
#include "base/nearest_name.h"

namespace steplens::analysis {
namespace {

constexpr size_t kMostRanks = 64;  // of a larger job the first ones are advised

bool IsOfDimension(RuleId rule, AdviceDimension dimension) {
  if (dimension == AdviceDimension::kAll) return true;
  switch (rule) {
    case RuleId::kConversion:
    case RuleId::kUnsteadyKernel:
    case RuleId::kAicpu:
    case RuleId::kFrequency:
    case RuleId::kFusion:
      return dimension == AdviceDimension::kComputation;
    case RuleId::kHostBound:
    case RuleId::kDependency:
    case RuleId::kLaunch:
    case RuleId::kAffinityApi:
    case RuleId::kAffinityOptimizer:
    case RuleId::kDispatch:
      return dimension == AdviceDimension::kSchedule;
    default:
      return false;
  }
}

Status CheckRuleNames(const std::set<std::string>& names) {
  std::vector<std::string> known;
  for (const RuleSpec& rule : Rules()) known.emplace_back(rule.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("there is no rule '{}'{}", name, DidYouMean(name, known))};
  }
  return {};
}

// The same thing on several ranks is one finding.
std::vector<Finding> MergeRanks(std::vector<Finding> all) {
  std::map<std::pair<RuleId, std::string>, size_t> place_of;
  std::vector<Finding> out;
  for (Finding& finding : all) {
    const auto [place, is_new] =
        place_of.try_emplace({finding.rule, English(finding.subject)}, out.size());
    if (is_new) {
      out.push_back(std::move(finding));
      continue;
    }
    Finding& one = out[place->second];
    one.ranks.insert(one.ranks.end(), finding.ranks.begin(), finding.ranks.end());
    std::sort(one.ranks.begin(), one.ranks.end());
    one.ranks.erase(std::unique(one.ranks.begin(), one.ranks.end()), one.ranks.end());
    one.places.insert(one.places.end(), finding.places.begin(), finding.places.end());
    const auto saving_ms = [](const Finding& of) { return of.saving ? of.saving->Best() : -1; };
    if (saving_ms(finding) <= saving_ms(one)) continue;
    one.saving = finding.saving;
    one.reason = std::move(finding.reason);
    one.evidence = std::move(finding.evidence);
  }
  return out;
}

double MsPerStep(const StepReplay& replay, int64_t ns) {
  return static_cast<double>(ns) / 1e6 / static_cast<double>(replay.graph().steps());
}

// What a replay with its change says, instead of the bound.
void ReplayChange(const StepReplay& replay, const std::vector<Edit>& change, Finding& finding) {
  if (change.empty() || replay.measured_ns() <= 0) return;
  const StepReplay::Outcome outcome = replay.Run(change);
  if (outcome.changed_edges == 0) return;
  Saving saving = finding.saving.value_or(Saving{});
  const double bound_ms = MsPerStep(replay, outcome.bound_ns);
  saving.ms = std::max(0.0, MsPerStep(replay, outcome.saving_ns));
  saving.at_most_ms = finding.saving ? std::min(saving.at_most_ms, bound_ms) : bound_ms;
  saving.ms = std::min(*saving.ms, std::max(saving.at_most_ms, 0.0));
  finding.saving = saving;
  finding.confidence = replay.is_trusted() ? Confidence::kMeasured : Confidence::kEstimated;
}

}  // namespace

Result<AdvisorReport> RunAdvisor(const store::Job& job, const AdvisorOptions& options) {
  SL_RETURN_IF_ERROR(CheckRuleNames(options.only));
  SL_RETURN_IF_ERROR(CheckRuleNames(options.skip));
  AdvisorReport report;
  std::vector<RankView> ranks = ViewsOf(job, options.selection);
  if (ranks.empty()) return Error{ErrorCode::kNotFound, "no rank has been read"};
  if (ranks.size() > kMostRanks) {
    report.warnings.push_back(
        Message{"advisor.first_ranks", {{"count", std::to_string(kMostRanks)}}});
    ranks.erase(ranks.begin() + kMostRanks, ranks.end());
  }
  std::vector<Finding> findings;
  if (ranks.size() > 1 && options.dimension == AdviceDimension::kAll) {
    SL_ASSIGN_OR_RETURN(cluster::JobFindings summary, cluster::FindInJob(job.ranks, {}));
    findings = std::move(summary.findings);
    for (Message& warning : summary.warnings) report.warnings.push_back(std::move(warning));
  }
  std::vector<Finding> of_ranks;
  for (const RankView& rank : ranks) {
    const RankEvidence evidence(job, static_cast<uint32_t>(&rank.store() - job.ranks.data()));
    for (Finding& finding : Advise(evidence)) of_ranks.push_back(std::move(finding));
  }
  for (Finding& finding : MergeRanks(std::move(of_ranks))) findings.push_back(std::move(finding));
  std::erase_if(findings, [&](const Finding& finding) {
    const std::string name(RuleName(finding.rule));
    return !IsOfDimension(finding.rule, options.dimension) || options.skip.contains(name) ||
           (!options.only.empty() && !options.only.contains(name));
  });
  const StepReplay replay(job, ranks, options.selection.step);
  report.step_ms = MsPerStep(replay, replay.measured_ns());
  report.replay_error_percent = replay.error_percent();
  report.is_trusted = replay.is_trusted();
  for (Message& warning : ReplayWarnings(replay)) report.warnings.push_back(std::move(warning));
  std::vector<Edit> together;
  const auto exposed = std::count_if(findings.begin(), findings.end(), [](const Finding& one) {
    return one.rule == RuleId::kExposedCommunication;
  });
  for (Finding& finding : findings) {
    // Collectives of one group among several cannot be told apart by their names.
    if (finding.rule == RuleId::kExposedCommunication && exposed > 1) continue;
    const std::vector<Edit> change = ChangeOf(finding);
    ReplayChange(replay, change, finding);
    if (finding.saving && finding.saving->ms)
      together.insert(together.end(), change.begin(), change.end());
  }
  if (!together.empty())
    report.cumulative_saving_ms = std::max(0.0, MsPerStep(replay, replay.Run(together).saving_ns));
  SortBySaving(findings);
  report.findings = std::move(findings);
  return report;
}

std::string_view PriorityOf(const Finding& finding, double step_ms) {
  const double share =
      finding.saving && !finding.is_hidden && step_ms > 0 ? finding.saving->Best() / step_ms : 0;
  const bool is_fault =
      finding.rule == RuleId::kRetransmission || finding.rule == RuleId::kFrequency;
  if (share >= 0.05) return "high";
  return share >= 0.03 || is_fault ? "medium" : "low";
}

}  // namespace steplens::analysis
