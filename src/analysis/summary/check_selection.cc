#include "analysis/summary/check_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/summary/summary.h"

namespace steplens::analysis {
namespace {

// "there is no step 99; steps: 10, 11, 12"
Error NotThere(std::string_view what, int64_t wanted, const std::set<int64_t>& known) {
  constexpr size_t kShown = 20;
  std::vector<int64_t> shown(known.begin(), known.end());
  const bool is_long = shown.size() > kShown;
  if (is_long) shown.resize(kShown);
  const std::string list = shown.empty() ? "none is marked"
                                         : fmt::format("{}s: {}{}", what, fmt::join(shown, ", "),
                                                       is_long ? ", ..." : "");
  return {ErrorCode::kNotFound, fmt::format("there is no {} {}; {}", what, wanted, list)};
}

}  // namespace

Status CheckSelection(const store::Job& job, const Selection& selection) {
  if (!selection.rank && !selection.step) return {};
  std::set<int64_t> ranks;
  std::set<int64_t> steps;
  for (const store::TraceStore& rank : job.ranks) {
    ranks.insert(rank.info.rank);
    if (!selection.HasRank(rank.info.rank)) continue;
    const std::vector<int64_t> of_rank = Summarise(rank).steps;
    steps.insert(of_rank.begin(), of_rank.end());
  }
  if (selection.rank && !ranks.contains(*selection.rank))
    return NotThere("rank", *selection.rank, ranks);
  if (selection.step && !steps.contains(*selection.step))
    return NotThere("step", *selection.step, steps);
  return {};
}

}  // namespace steplens::analysis
