#include "cluster/coverage_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace steplens::cluster {
namespace {

using analysis::cluster::RankFacts;

// A note about some ranks of several; none if it is all or none.
void Note(std::span<const RankFacts> ranks, const std::vector<int64_t>& lacking,
          std::string_view what, std::vector<std::string>& notes) {
  if (lacking.empty() || lacking.size() == ranks.size()) return;
  notes.push_back(fmt::format("{} of {} ranks {} {} ({})", lacking.size(), ranks.size(),
                              lacking.size() == 1 ? "has" : "have", what, NameRanks(lacking)));
}

void NoteLevels(std::span<const RankFacts> ranks, std::vector<std::string>& notes) {
  std::map<std::string, std::vector<int64_t>> levels;
  for (const RankFacts& rank : ranks) {
    if (!rank.level.empty()) levels[rank.level].push_back(rank.rank);
  }
  if (levels.size() < 2) return;
  std::vector<std::string> parts;
  for (const auto& [level, of_level] : levels)
    parts.push_back(fmt::format("{} {}", NameRanks(of_level), level));
  notes.push_back(
      fmt::format("ranks were captured at different levels: {}", fmt::join(parts, "; ")));
}

}  // namespace

std::string NameRanks(std::span<const int64_t> ranks) {
  constexpr size_t kShown = 10;
  const std::span<const int64_t> shown = ranks.first(std::min(ranks.size(), kShown));
  return fmt::format("rank{} {}{}", ranks.size() == 1 ? "" : "s", fmt::join(shown, ", "),
                     ranks.size() > kShown ? ", ..." : "");
}

std::vector<std::string> CoverageNotes(std::span<const RankFacts> ranks, bool wants_communication) {
  std::vector<std::string> notes;
  std::map<int64_t, size_t> steps;  // -> ranks that have it
  for (const RankFacts& rank : ranks) {
    for (const int64_t step : rank.steps) ++steps[step];
  }
  std::vector<int64_t> without_results;
  std::vector<int64_t> without_steps;
  for (const RankFacts& rank : ranks) {
    // PyTorch's own profiler has no levels, and writes none.
    if (!rank.has_communication_results && store::HasResultTables(rank.source))
      without_results.push_back(rank.rank);
    if (rank.steps.size() < steps.size()) without_steps.push_back(rank.rank);
  }
  if (wants_communication) {
    Note(ranks, without_results, "no communication results, which need level 1 or higher", notes);
  }
  Note(ranks, without_steps, "fewer steps than others", notes);
  if (!ranks.empty() && without_steps.size() == ranks.size()) {
    const auto of_all = std::count_if(
        steps.begin(), steps.end(), [&](const auto& step) { return step.second == ranks.size(); });
    notes.push_back(
        fmt::format("no rank has all steps: {} of {} are in all ranks", of_all, steps.size()));
  }
  NoteLevels(ranks, notes);
  return notes;
}

}  // namespace steplens::cluster
