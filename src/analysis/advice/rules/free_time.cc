#include <fmt/format.h>

#include <algorithm>

#include "analysis/advice/rules/rules.h"

// Three rules that differ in the cause of the free time and its words.

namespace steplens::analysis {
namespace {

// What free time the steps have is the most a cause can save; none if it is not noticeable.
std::vector<Finding> FindFreeTime(const RankEvidence& rank, RuleId rule, const std::string& cause,
                                  Message subject, Message advice) {
  if (rank.is_on_host()) return {};  // there is no device that could be free
  const FreeCauses& causes = rank.free_causes();
  const auto time = causes.cause_us.find(cause);
  if (time == causes.cause_us.end()) return {};
  const int64_t free_ns = rank.times().free_ns;
  const int64_t cause_ns = std::min(static_cast<int64_t>(time->second * 1000), free_ns);
  if (!rank.IsNoticeable(cause_ns)) return {};
  Finding finding =
      rank.Make(rule, std::move(subject),
                {"finding.free.reason", {{"percent", rank.Percent(cause_ns)}}}, std::move(advice));
  finding.saving = rank.AtMost(cause_ns, free_ns);
  finding.confidence = Confidence::kEstimated;
  finding.places = {{rank.rank(), causes.longest.at(cause), store::kNoSlice, "Free"}};
  finding.evidence = {
      {{"evidence.free",
        {{"time", SentenceTime(rank.PerStepUs(cause_ns))},
         {"free", SentenceTime(rank.PerStepUs(free_ns))}}},
       fmt::format("SELECT step, free_ns FROM breakdown WHERE rank = {}", rank.rank())}};
  return {finding};
}

}  // namespace

std::vector<Finding> FindHostBound(const RankEvidence& rank) {
  return FindFreeTime(rank, RuleId::kHostBound, "gap.host_bound", {"finding.host_bound"},
                      {"finding.host_bound.advice"});
}

std::vector<Finding> FindDependencies(const RankEvidence& rank) {
  return FindFreeTime(rank, RuleId::kDependency, "gap.dependency", {"finding.dependency"},
                      {"finding.dependency.advice"});
}

std::vector<Finding> FindLongLaunches(const RankEvidence& rank) {
  return FindFreeTime(rank, RuleId::kLaunch, "gap.launch", {"finding.launch"},
                      {"finding.launch.advice"});
}

}  // namespace steplens::analysis
