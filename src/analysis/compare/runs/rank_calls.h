#pragma once

#include <vector>

#include "analysis/cluster/rank_facts.h"
#include "analysis/compare/runs/run_summary.h"
#include "analysis/compare/runs/step_rows.h"
#include "store/trace_store.h"

namespace steplens::analysis::runs {

// The communication calls of a rank by type and kind of group and by group, and per step how long
// they waited (kNone where no call says): from the communication results, else from the timeline.
struct RankCalls {
  std::vector<SumRow> rows;
  std::vector<int64_t> wait_ns;  // by step
};
RankCalls SumCalls(const store::TraceStore& store, const cluster::RankFacts& facts,
                   SummarySteps& steps);

}  // namespace steplens::analysis::runs
