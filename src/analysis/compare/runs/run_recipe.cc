#include "analysis/compare/runs/run_recipe.h"

#include "analysis/compare/runs/rank_part.h"

namespace steplens::analysis::runs {

RankPart RunSummaryRecipe::MapWithFacts(const store::TraceStore& rank,
                                        const cluster::RankFacts& facts) const {
  return SummariseRank(RankView(rank), facts);
}

void RunSummaryRecipe::AddRank(const cluster::RankFacts& facts, RankPart part) {
  folder_.Add(std::move(part), facts.level);
}

Result<cluster::Answer> RunSummaryRecipe::Finish(cluster::Form) { return cluster::Answer{}; }

cluster::RecipeSpec RunSummarySpec(RunSummaryRecipe*& made) {
  cluster::RecipeSpec spec;
  spec.name = "run_summary";
  spec.folder = "RunSummary";
  spec.summary = "What a run is compared by";
  spec.needs = {.timeline = true, .communication = true, .others = true};
  spec.has_files = false;
  spec.make = [&made](const cluster::Options&) -> Result<std::unique_ptr<cluster::Recipe>> {
    auto recipe = std::make_unique<RunSummaryRecipe>();
    made = recipe.get();
    return std::unique_ptr<cluster::Recipe>(std::move(recipe));
  };
  return spec;
}

}  // namespace steplens::analysis::runs
