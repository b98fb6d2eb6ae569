#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/advice/rules/replaceable.h"
#include "analysis/advice/rules/rules.h"
#include "analysis/advice/rules/slice_lists.h"
#include "analysis/cells.h"
#include "analysis/operators/host_ops.h"

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

// The stack of an operator, innermost frame first; empty if it was not recorded.
std::string StackOf(const RankEvidence& rank, size_t slice) {
  const uint32_t row = FindHostOpDetail(rank.store(), static_cast<store::SliceId>(slice));
  if (row == store::kNoId) return {};
  return std::string(rank.store().Text(rank.store().host_ops.call_stack[row]));
}

std::vector<Replaceable> WithinSteps(std::vector<Replaceable> found, const RankEvidence& rank) {
  std::erase_if(found, [&](const Replaceable& one) { return !rank.IsInSteps(one.times.begin_ns); });
  return found;
}

}  // namespace

std::vector<Finding> FindFusions(const RankEvidence& rank) {
  const std::vector<Replaceable> found =
      WithinSteps(ListFusibleKernels(rank.store(), AdvisorFusionRules(rank.settings())), rank);
  if (found.empty()) return {};
  Finding finding =
      rank.Make(RuleId::kFusion, {"finding.fusion"}, FoundTimes(found.size(), found.front().by),
                {"finding.fusion.advice"});
  finding.effort = Effort::kModel;
  finding.places = {rank.PlaceOfKernel(static_cast<uint32_t>(found.front().first))};
  finding.evidence = {FoundRows(rank, found.size(), "kernels", found.front().first)};
  TableRows rows(rank.DetailName(RuleId::kFusion),
                 {TextColumn("pattern_name"), TextColumn("pattern"), IntColumn("first kernel"),
                  TimeColumn("first_timestamp(us)"), TimeColumn("elapsed(us)")});
  for (const Replaceable& one : found) {
    rows.Add(one.by, one.names, one.first, one.times.begin_ns,
             one.times.end_ns - one.times.begin_ns);
  }
  finding.details = {rows.Take()};
  return {finding};
}

std::vector<Finding> FindAffinityApis(const RankEvidence& rank) {
  const std::vector<Replaceable> found =
      ListReplaceableApis(rank.store(), AdvisorApiRules(rank.settings()));
  if (found.empty()) return {};
  // Calls by what replaces them and where they are made.
  std::map<std::tuple<std::string, std::string, std::string>, int64_t> calls;
  bool has_stacks = false;
  for (const Replaceable& one : found) {
    const std::string stack = StackOf(rank, one.first);
    has_stacks = has_stacks || !stack.empty();
    ++calls[{one.by, stack, one.note}];
  }
  Finding finding = rank.Make(
      RuleId::kAffinityApi, {"finding.affinity_api"}, FoundTimes(found.size(), found.front().by),
      {has_stacks ? "finding.affinity_api.advice" : "finding.affinity_api.no_stack"});
  finding.effort = Effort::kModel;
  finding.places = {rank.PlaceOfSlice(static_cast<store::SliceId>(found.front().first))};
  finding.evidence = {FoundRows(rank, found.size(), "slices", found.front().first)};
  TableRows rows(rank.DetailName(RuleId::kAffinityApi),
                 {TextColumn("Affinity API"), TextColumn("Code stacks"),
                  IntColumn("Stack called counts"), TextColumn("Constraint")});
  for (const auto& [key, count] : calls)
    rows.Add(std::get<0>(key), std::get<1>(key), count, std::get<2>(key));
  finding.details = {rows.Take()};
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

}  // namespace steplens::analysis
