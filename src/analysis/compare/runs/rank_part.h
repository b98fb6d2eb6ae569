#pragma once

#include "analysis/cluster/rank_facts.h"
#include "analysis/compare/runs/run_summary.h"
#include "analysis/facts/rank_view.h"

namespace steplens::analysis::runs {

// What a rank adds to the summary of its run: per step the parts of its time, peaks of memory, and
// the time of kernels, host operators, modules and communication calls by name. Work outside of all
// steps is left out where the run marked steps. Pure.
RankPart SummariseRank(const RankView& rank, const cluster::RankFacts& facts);

}  // namespace steplens::analysis::runs
