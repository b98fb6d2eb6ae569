#include "analysis/advice/advisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "analysis/advice/against_baseline.h"
#include "analysis/advice/change.h"
#include "analysis/advice/rank_evidence.h"
#include "analysis/advice/rank_tables.h"
#include "analysis/advice/rule.h"
#include "analysis/advice/rules/straggler.h"
#include "analysis/cluster/summary/job_findings.h"
#include "analysis/whatif/whatif_answer.h"
#include "base/nearest_name.h"

namespace steplens::analysis {
namespace {

constexpr size_t kMostRanks = 64;  // of a larger job the first ones are advised

bool IsOfDimension(RuleId rule, AdviceDimension dimension) {
  return dimension == AdviceDimension::kAll || RuleOf(rule).dimension == dimension ||
         rule == RuleId::kOverall || rule == RuleId::kEnvironment;
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
    one.change.insert(one.change.end(), std::make_move_iterator(finding.change.begin()),
                      std::make_move_iterator(finding.change.end()));
    one.places.insert(one.places.end(), finding.places.begin(), finding.places.end());
    one.least_priority = std::max(one.least_priority, finding.least_priority);
    for (table::Table& details : finding.details) one.details.push_back(std::move(details));
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
void ReplayChange(const StepReplay& replay, Platform platform, const std::vector<Edit>& change,
                  Finding& finding) {
  if (change.empty() || replay.measured_ns() <= 0) return;
  // Late ranks have a replay of the job's calls already, where all of these say how they divide. On
  // a GPU they do not, and the host's times are those of a real host: there the step's is better.
  const bool is_late = finding.rule == RuleId::kLateRank || finding.rule == RuleId::kLateGroup;
  if (is_late && (!replay.is_trusted() || platform != Platform::kGpu)) return;
  const StepReplay::Outcome outcome = replay.Run(change);
  if (outcome.changed_edges == 0) {
    // The rule knows that no computing could run beside these collectives.
    const bool is_overlap = finding.rule == RuleId::kExposedCommunication;
    if (is_overlap && !finding.change.empty() && finding.saving) finding.saving->ms = 0;
    return;
  }
  if (is_late) finding.saving.reset();
  Saving saving = finding.saving.value_or(Saving{});
  const double bound_ms = MsPerStep(replay, outcome.bound_ns);
  saving.ms = std::max(0.0, MsPerStep(replay, outcome.saving_ns));
  saving.at_most_ms = finding.saving ? std::min(saving.at_most_ms, bound_ms) : bound_ms;
  saving.ms = std::min(*saving.ms, std::max(saving.at_most_ms, 0.0));
  finding.saving = saving;
  finding.confidence = replay.is_trusted() ? Confidence::kMeasured : Confidence::kEstimated;
}

// A change that a replay says gains next to nothing is no advice: something else decides. A replay
// overlaps communication perfectly, which no job does, so that must gain more.
bool SavesNothing(const Finding& finding, double step_ms) {
  constexpr double kLeastShare = 0.01;
  constexpr double kLeastOverlap = 0.03;
  const bool is_overlap = finding.rule == RuleId::kExposedCommunication;
  if (!is_overlap && finding.change.empty()) return false;
  return finding.saving && finding.saving->ms &&
         *finding.saving->ms < (is_overlap ? kLeastOverlap : kLeastShare) * step_ms;
}

// How to check the change, where the rule does not say it itself.
void AddRecipe(double step_ms, Finding& finding) {
  if (!finding.verify.empty() || !finding.saving || finding.is_hidden) return;
  const double saved_ms = finding.saving->Best();
  finding.verify = {finding.saving->ms ? "verify.step" : "verify.bound",
                    {{"rule", Message{fmt::format("rule.{}", RuleName(finding.rule))}},
                     {"from", fmt::format("{:.3f}", step_ms)},
                     {"to", fmt::format("{:.3f}", std::max(0.0, step_ms - saved_ms))}}};
}

// Asks the rules of each rank and of the job, one after the other.
class AdvisorRun {
 public:
  AdvisorRun(const store::Job& job, const AdvisorOptions& options) : job_(job), options_(options) {
    context_.settings = options.settings;
    context_.graphs = options.graphs;
  }

  Result<AdvisorReport> Run() {
    SL_RETURN_IF_ERROR(CheckRuleNames(options_.only));
    SL_RETURN_IF_ERROR(CheckRuleNames(options_.skip));
    SL_RETURN_IF_ERROR(ChooseRanks());
    SL_RETURN_IF_ERROR(AskJob());
    AskRanks();
    CompareRanks();
    DropUnwanted();
    Replay();
    SortBySaving(findings_);
    report_.findings = std::move(findings_);
    return std::move(report_);
  }

 private:
  Status ChooseRanks() {
    ranks_ = ViewsOf(job_, options_.selection);
    if (!options_.ranks.empty()) {
      std::erase_if(ranks_,
                    [&](const RankView& one) { return !options_.ranks.contains(one.rank()); });
    }
    if (ranks_.empty()) return Error{ErrorCode::kNotFound, "no rank has been read"};
    if (ranks_.size() > kMostRanks) {
      report_.warnings.push_back(
          Message{"advisor.first_ranks", {{"count", std::to_string(kMostRanks)}}});
      ranks_.erase(ranks_.begin() + kMostRanks, ranks_.end());
    }
    return {};
  }

  Status AskJob() {
    if (ranks_.size() < 2) return {};
    if (options_.dimension == AdviceDimension::kAll) {
      SL_ASSIGN_OR_RETURN(cluster::JobFindings summary, cluster::FindInJob(job_.ranks, {}));
      findings_ = std::move(summary.findings);
      for (Message& warning : summary.warnings) report_.warnings.push_back(std::move(warning));
    }
    const RuleThresholds& limits = options_.settings.thresholds;
    steps_ = ReadRankSteps(ranks_);
    Take(FindSlowRanks(steps_, limits));
    Take(FindStageImbalance(steps_, StagesOf(ranks_), limits));
    if (!steps_.empty()) report_.tables.push_back(RankStepTable(steps_));
    if (!context_.communication) context_.communication = ReadCommData(job_, {});
    const std::vector<RankBandwidth> bandwidths = SumBandwidths(*context_.communication);
    Take(FindSlowBandwidths(bandwidths, limits));
    if (!bandwidths.empty()) report_.tables.push_back(RankBandwidthTable(bandwidths));
    return {};
  }

  void AskRanks() {
    std::vector<Finding> of_ranks;
    std::vector<RankEvidence> evidence;
    std::vector<const RankEvidence*> all;
    evidence.reserve(ranks_.size());
    for (const RankView& rank : ranks_) {
      all.push_back(&evidence.emplace_back(job_, rank, &context_));
      for (Finding& finding : Advise(evidence.back())) of_ranks.push_back(std::move(finding));
      longest_step_ms_ = std::max(longest_step_ms_, evidence.back().step_us() / 1000);
    }
    AttributeLateRanks(evidence, findings_);
    Take(AdviseJob(evidence));
    Take(MergeRanks(std::move(of_ranks)));
    report_.blind = BlindRules(ranks_, all);
  }

  // With the baseline; else the slowest rank of a step with the fastest one, if they differ.
  void CompareRanks() {
    if (!options_.compares) return;
    if (options_.baseline != nullptr) {
      const std::vector<RankView> others = ViewsOf(*options_.baseline, {});
      if (others.empty()) return;
      for (const RankView& rank : ranks_) {
        const auto same = std::find_if(others.begin(), others.end(), [&](const RankView& other) {
          return other.rank() == rank.rank();
        });
        if (same == others.end() && ranks_.size() > 1) continue;
        const bool is_single = ranks_.size() == 1;
        const std::string number = is_single ? "" : fmt::format(" rank {}", rank.rank());
        TakeComparison({rank, "Target" + number},
                       {same == others.end() ? others.front() : *same, "Benchmark" + number},
                       ComparedWork::kBoth);
      }
      return;
    }
    if (options_.dimension != AdviceDimension::kSchedule)
      CompareSlowest(&RankStep::computing_us, ComparedWork::kKernels);
    if (options_.dimension != AdviceDimension::kComputation)
      CompareSlowest(&RankStep::free_us, ComparedWork::kApis);
  }

  void CompareSlowest(double RankStep::* part, ComparedWork work) {
    const std::optional<std::pair<int64_t, int64_t>> pair =
        PickRanks(steps_, part, options_.settings.thresholds);
    if (!pair) return;
    const RankView* slow = nullptr;
    const RankView* fast = nullptr;
    for (const RankView& rank : ranks_) {
      if (rank.rank() == pair->first) slow = &rank;
      if (rank.rank() == pair->second) fast = &rank;
    }
    if (slow == nullptr || fast == nullptr) return;
    TakeComparison({*slow, fmt::format("Rank{}", pair->first)},
                   {*fast, fmt::format("Rank{}", pair->second)}, work);
  }

  void TakeComparison(const ComparedRank& target, const ComparedRank& baseline, ComparedWork work) {
    Result<RankComparison> compared = CompareRankWith(target, baseline, work);
    if (!compared.ok()) {
      report_.warnings.push_back(Note(compared.error().message));
      return;
    }
    Take(std::move(compared->findings));
    for (table::Table& one : compared->tables) report_.tables.push_back(std::move(one));
  }

  void Take(std::vector<Finding> more) {
    for (Finding& finding : more) findings_.push_back(std::move(finding));
  }

  void DropUnwanted() {
    std::erase_if(findings_, [&](const Finding& finding) {
      const std::string name(RuleName(finding.rule));
      return !IsOfDimension(finding.rule, options_.dimension) || options_.skip.contains(name) ||
             options_.settings.disabled.contains(name) ||
             (!options_.only.empty() && !options_.only.contains(name));
    });
  }

  void Replay() {
    const StepReplay replay(job_, ranks_, options_.selection.step);
    report_.step_ms = MsPerStep(replay, replay.measured_ns());
    if (report_.step_ms <= 0) report_.step_ms = longest_step_ms_;
    report_.replay_error_percent = replay.error_percent();
    report_.is_trusted = replay.is_trusted();
    for (Message& warning : ReplayWarnings(replay)) report_.warnings.push_back(std::move(warning));
    std::vector<Edit> together;
    const auto exposed = std::count_if(findings_.begin(), findings_.end(), [](const Finding& one) {
      return one.rule == RuleId::kExposedCommunication && one.change.empty();
    });
    for (Finding& finding : findings_) {
      // Collectives of one group among several cannot be told apart by their names.
      if (finding.rule == RuleId::kExposedCommunication && finding.change.empty() && exposed > 1)
        continue;
      const std::vector<Edit> change = ChangeOf(finding);
      ReplayChange(replay, ranks_.front().platform(), change, finding);
      if (finding.saving && finding.saving->ms)
        together.insert(together.end(), change.begin(), change.end());
    }
    std::erase_if(findings_,
                  [&](const Finding& finding) { return SavesNothing(finding, report_.step_ms); });
    constexpr double kLeastShare = 0.01;
    TakeExplained(kLeastShare * report_.step_ms, findings_);
    for (Finding& finding : findings_) {
      AddRecipe(report_.step_ms, finding);
      const auto& priorities = options_.settings.priorities;
      if (const auto set = priorities.find(RuleName(finding.rule)); set != priorities.end())
        finding.set_priority = PriorityFrom(set->second);
    }
    if (together.empty()) return;
    report_.cumulative_saving_ms = std::max(0.0, MsPerStep(replay, replay.Run(together).saving_ns));
  }

  const store::Job& job_;
  const AdvisorOptions& options_;
  AdviceContext context_;
  std::vector<RankView> ranks_;
  std::vector<RankStep> steps_;
  std::vector<Finding> findings_;
  double longest_step_ms_ = 0;
  AdvisorReport report_;
};

}  // namespace

Result<AdvisorReport> RunAdvisor(const store::Job& job, const AdvisorOptions& options) {
  return AdvisorRun(job, options).Run();
}

std::string_view PriorityOf(const Finding& finding, double step_ms) {
  if (finding.set_priority) return PriorityName(*finding.set_priority);
  const double share =
      finding.saving && !finding.is_hidden && step_ms > 0 ? finding.saving->Best() / step_ms : 0;
  constexpr double kHighShare = 0.05;
  constexpr double kMediumShare = 0.03;
  const Priority by_share = share >= kHighShare     ? Priority::kHigh
                            : share >= kMediumShare ? Priority::kMedium
                                                    : Priority::kLow;
  return PriorityName(std::max(by_share, finding.least_priority));
}

}  // namespace steplens::analysis
