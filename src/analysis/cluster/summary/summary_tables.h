#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/summary/late_ranks.h"
#include "analysis/cluster/summary/slow_links.h"
#include "analysis/cluster/summary/wait_pairs.h"
#include "table/table.h"

// The summary's tables about ranks, places and links; times in milliseconds of an average step.

namespace steplens::analysis::cluster {

// ClusterRankScore: what each rank did, how late it is against its peers (relative) and how much
// longer than they it computes (individual).
table::Table RankScoreTable(const std::vector<RankLoad>& loads);

// ClusterHostSum: the ranks of each host together. Empty if no host is known.
table::Table HostSumTable(const std::vector<RankLoad>& loads);

// ClusterParallelSum: the ranks of each index of each parallel dimension together.
table::Table ParallelSumTable(const std::vector<RankLoad>& loads);

// ClusterGroupWait: each communication group, the longest waits first.
table::Table GroupWaitTable(const GroupWaits& waits, const GroupBook& book, size_t steps);

// What a rank did in one step, in milliseconds.
struct RankStep {
  int64_t rank = 0;
  int64_t step = 0;
  double computing_ms = 0;
  double not_overlapped_ms = 0;
  double free_ms = 0;
  // Waited for others, and moved data; NaN where nobody knows.
  double suffered_ms = 0;
  double transit_ms = 0;
};

// ClusterRankStep.
table::Table RankStepTable(const std::vector<RankStep>& steps);

// ClusterHostLinks: the links between ranks of two hosts together; of large groups the slowest
// only. Empty if no host is known.
table::Table HostLinkTable(const std::vector<LinkTotal>& links, const std::vector<RankLoad>& loads);

// ClusterLinkBandwidth: between two ranks over all groups and steps; of large groups the slowest
// links only.
table::Table LinkBandwidthTable(std::vector<LinkTotal> links);

}  // namespace steplens::analysis::cluster
