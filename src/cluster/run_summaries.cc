#include "cluster/run_summaries.h"

#include <fmt/format.h>

#include "analysis/compare/runs/run_recipe.h"
#include "cluster/run.h"

namespace steplens::cluster {

Result<SummarisedRun> SummariseRun(Team& team, ThreadPool& pool, const std::string& path,
                                   const SummariseOptions& options) {
  analysis::runs::RunSummaryRecipe* recipe = nullptr;
  RunOptions run;
  run.input = path;
  run.recipes = {analysis::runs::RunSummarySpec(recipe)};
  run.use_cache = options.use_cache;
  run.show_progress = options.show_progress;
  SL_ASSIGN_OR_RETURN(const RunResult result, RunRecipes(team, pool, run));
  SummarisedRun out;
  if (!team.is_root()) return out;
  out.summary = recipe->TakeSummary(path);
  out.failed = result.failed.size();
  for (const FailedRank& failed : result.failed)
    out.notes.push_back(fmt::format("{} is left out: {}", failed.Name(), failed.reason));
  for (const analysis::cluster::RankFacts& rank : result.ranks) {
    if (rank.lost_records == 0) continue;
    ++out.failed;
    out.notes.push_back(fmt::format("rank {}: {} of its records could not be used ({})", rank.rank,
                                    rank.lost_records, rank.first_loss));
  }
  if (out.summary.steps.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: no step and no device work to compare was found", path)};
  }
  return out;
}

}  // namespace steplens::cluster
