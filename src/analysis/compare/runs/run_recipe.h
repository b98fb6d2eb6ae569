#pragma once

#include <string>

#include "analysis/cluster/recipe.h"
#include "analysis/compare/runs/run_summary.h"

namespace steplens::analysis::runs {

// Makes the summary of a run rank by rank, with the machinery of the cluster analyses. It has no
// tables: who runs it takes the summary.
class RunSummaryRecipe : public cluster::RecipeOf<RankPart> {
 public:
  Result<cluster::Answer> Finish(cluster::Form form) override;
  RunSummary TakeSummary(std::string label) { return folder_.Finish(std::move(label)); }

 protected:
  RankPart MapWithFacts(const store::TraceStore& rank,
                        const cluster::RankFacts& facts) const override;
  void AddRank(const cluster::RankFacts& facts, RankPart part) override;

 private:
  RunFolder folder_;
};

// `made` is set to the recipe when it is made.
cluster::RecipeSpec RunSummarySpec(RunSummaryRecipe*& made);

}  // namespace steplens::analysis::runs
