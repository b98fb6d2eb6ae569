#pragma once

#include <string>
#include <vector>

#include "analysis/cluster/recipe.h"
#include "analysis/question/question_answer.h"
#include "analysis/question/question_args.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// The recipes of the cluster command as questions about a job. Those that compare two runs, or
// change captures, are none.
struct RecipeQuestion {
  std::string name;               // of the recipe; "cluster_summary" for `summary`
  std::string description;        // one sentence
  std::vector<std::string> args;  // "step", and the recipe's options by their name
  const cluster::RecipeSpec* recipe = nullptr;
};
std::vector<RecipeQuestion> RecipeQuestions();

// What the recipe answers about all ranks of the job. Tables have the names of
// cluster_analysis.db in lower case, without "cluster" before them: RankWait is rank_wait.
Result<QuestionAnswer> AskRecipeQuestion(const RecipeQuestion& question, const QuestionArgs& args,
                                         const store::Job& job);

}  // namespace steplens::analysis
