#pragma once

#include <string>
#include <vector>

#include "analysis/compare/runs/run_summary.h"
#include "base/status.h"
#include "base/team.h"
#include "base/thread_pool.h"

namespace steplens::cluster {

struct SummariseOptions {
  bool use_cache = true;
  bool show_progress = false;
};

struct SummarisedRun {
  analysis::runs::RunSummary summary;  // empty on members of the team that are not the root
  std::vector<std::string> notes;  // ranks that could not be used, or not wholly: a sentence each
  size_t failed = 0;               // how many
};

// Makes the summary of the run below `path`: of one rank or of many. Ranks are mapped by the team
// and folded one by one, so memory does not grow with what they recorded. It is an error if no rank
// can be used. All members call it.
Result<SummarisedRun> SummariseRun(Team& team, ThreadPool& pool, const std::string& path,
                                   const SummariseOptions& options);

}  // namespace steplens::cluster
