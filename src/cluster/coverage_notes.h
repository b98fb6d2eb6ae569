#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/cluster/rank_facts.h"

namespace steplens::cluster {

// What some of the ranks lack and others have: communication results (if they are looked at),
// steps; and levels that differ. A sentence each, with counts.
std::vector<std::string> CoverageNotes(std::span<const analysis::cluster::RankFacts> ranks,
                                       bool wants_communication);

// "rank 3", "ranks 3, 5, 7, ...": the first few of them.
std::string NameRanks(std::span<const int64_t> ranks);

}  // namespace steplens::cluster
