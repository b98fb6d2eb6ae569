#pragma once

#include <span>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/cluster/options.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

struct JobFindings {
  std::vector<Finding> findings;
  double step_ms = 0;             // what a step takes on average over the ranks; shares are of it
  std::vector<Message> warnings;  // that ranks are missing
};

// What the summary recipe finds in a job that is in memory, the most expensive first: what
// ClusterFindings shows, as structs. kCancelled if nobody waits for it any more.
Result<JobFindings> FindInJob(std::span<const store::TraceStore> ranks, const Options& options);

}  // namespace steplens::analysis::cluster
