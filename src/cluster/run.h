#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cluster/answer.h"
#include "analysis/cluster/recipe.h"
#include "base/status.h"
#include "base/team.h"
#include "base/thread_pool.h"
#include "cluster/part_file.h"
#include "cluster/rank_texts.h"

namespace steplens::cluster {

struct RunOptions {
  std::string input;                          // -d
  std::optional<std::vector<int64_t>> ranks;  // --rank_list
  std::vector<analysis::cluster::RecipeSpec> recipes;
  analysis::cluster::Options options;
  // Instead of answering: the parts of the ranks go into this file, for another machine to put
  // together with others. `question` is written into it.
  std::string map_to;
  PartQuestion question;
  // Instead of reading ranks: parts that were made so.
  std::vector<PartFile::Rank> parts;
  // Where captures are listed: used if it is there, else made.
  std::string manifest;
  std::map<int64_t, std::string> hosts;  // of ranks, where a rank table says so
  bool tables_too = false;               // tables also where text captures have files of their own
  // Called on the root with the answers' files as soon as they can be written, in a thread of its
  // own where there is one.
  using OnFiles =
      std::function<void(const std::vector<const analysis::cluster::ResultFile*>&, RankTexts&)>;
  OnFiles on_files;
  bool use_cache = true;
  bool show_progress = false;
};

// A rank that could not be used; kNone: it could not even be asked for its number.
struct FailedRank {
  int64_t rank = 0;
  std::string path;
  std::string reason;

  std::string Name() const { return rank == store::kNone ? path : "rank " + std::to_string(rank); }
};

// What a run found out. `answers` is parallel to the recipes asked for and empty on members of the
// team that are not the root; they have the texts of the ranks that they mapped.
struct RunResult {
  std::vector<std::unique_ptr<analysis::cluster::Recipe>> recipes;  // answers' files refer to them
  RankTexts texts;                                                  // and to these
  std::vector<Result<analysis::cluster::Answer>> answers;
  std::vector<analysis::cluster::RankFacts> ranks;  // those used, ascending
  std::vector<FailedRank> failed;
  size_t found = 0;   // captures below the path
  size_t reused = 0;  // ranks that were not read again
  analysis::cluster::Form form = analysis::cluster::Form::kTables;
  std::vector<std::string> notes;
};

// Threads for the root's work after the last rank: its own and, as their processes have nothing to
// do then, those of other members.
size_t ThreadsAfterRanks(const Team& team, const ThreadPool& pool);

// Reads every selected rank once and answers all recipes. A rank that cannot be read, or a recipe
// that fails, does not stop the others; it is an error if no rank can be used, and kNotFound if
// there is none. With `map_to` there are no answers.
Result<RunResult> RunRecipes(Team& team, ThreadPool& pool, const RunOptions& options);

}  // namespace steplens::cluster
