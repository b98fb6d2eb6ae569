#include <fmt/format.h>

#include <algorithm>

#include "analysis/advice/rules/replaceable.h"
#include "analysis/advice/rules/rules.h"
#include "analysis/advice/rules/slice_lists.h"
#include "analysis/sql_text.h"

// Rules of the reference viewer that say what to change, not what it brings.

namespace steplens::analysis {
namespace {

Message FoundTimes(size_t count, const std::string& name) {
  return {"finding.found", {{"count", std::to_string(count)}, {"name", name}}};
}

// How often it was found, and where the first one is in SQL.
Finding::Evidence FoundRows(const RankEvidence& rank, size_t count, const char* table, size_t row) {
  return {{"evidence.slices", {{"count", std::to_string(count)}}},
          fmt::format("SELECT * FROM {} WHERE rank = {} AND id = {}", table, rank.rank(), row)};
}

std::vector<Replaceable> WithinSteps(std::vector<Replaceable> found, const RankEvidence& rank) {
  std::erase_if(found, [&](const Replaceable& one) { return !rank.IsInSteps(one.times.begin_ns); });
  return found;
}

}  // namespace

std::vector<Finding> FindFusions(const RankEvidence& rank) {
  const std::vector<Replaceable> found = WithinSteps(ListFusibleKernels(rank.store()), rank);
  if (found.empty()) return {};
  Finding finding =
      rank.Make(RuleId::kFusion, {"finding.fusion"}, FoundTimes(found.size(), found.front().by),
                {"finding.fusion.advice"});
  finding.effort = Effort::kModel;
  finding.places = {rank.PlaceOfKernel(static_cast<uint32_t>(found.front().first))};
  finding.evidence = {FoundRows(rank, found.size(), "kernels", found.front().first)};
  return {finding};
}

std::vector<Finding> FindAffinityApis(const RankEvidence& rank) {
  const std::vector<Replaceable> found = ListReplaceableApis(rank.store());
  if (found.empty()) return {};
  Finding finding =
      rank.Make(RuleId::kAffinityApi, {"finding.affinity_api"},
                FoundTimes(found.size(), found.front().by), {"finding.affinity_api.advice"});
  finding.effort = Effort::kModel;
  finding.places = {rank.PlaceOfSlice(static_cast<store::SliceId>(found.front().first))};
  finding.evidence = {FoundRows(rank, found.size(), "slices", found.front().first)};
  return {finding};
}

std::vector<Finding> FindAffinityOptimizers(const RankEvidence& rank) {
  const std::vector<SlowOptimizer> found = ListSlowOptimizers(rank.store());
  if (found.empty()) return {};
  Finding finding =
      rank.Make(RuleId::kAffinityOptimizer, {"finding.affinity_optimizer"},
                FoundTimes(found.size(), found.front().by), {"finding.affinity_optimizer.advice"});
  finding.places = {rank.PlaceOfSlice(static_cast<store::SliceId>(found.front().slice))};
  finding.evidence = {FoundRows(rank, found.size(), "slices", found.front().slice)};
  return {finding};
}

std::vector<Finding> FindCompilations(const RankEvidence& rank) {
  const std::vector<size_t> found = ListCompilations(rank.store(), rank.tracks());
  if (found.empty()) return {};
  const std::string name(rank.store().Text(rank.store().slices.name[found.front()]));
  Finding finding = rank.Make(RuleId::kDispatch, {"finding.dispatch"},
                              FoundTimes(found.size(), name), {"finding.dispatch.advice"});
  finding.effort = Effort::kSetting;
  finding.places = {rank.PlaceOfSlice(static_cast<store::SliceId>(found.front()))};
  finding.evidence = {{{"evidence.slices", {{"count", std::to_string(found.size())}}},
                       fmt::format("SELECT * FROM slices WHERE rank = {} AND name = '{}'",
                                   rank.rank(), SqlText(name))}};
  return {finding};
}

}  // namespace steplens::analysis
