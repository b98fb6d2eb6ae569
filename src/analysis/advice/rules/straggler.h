#pragma once

#include <span>
#include <vector>

#include "analysis/advice/rank_evidence.h"

namespace steplens::analysis {

// Says of late ranks what they do longer than the others: computing, data loading, garbage
// collection, calls of the allocator, waits of the host, or the rest of the time in which the
// device idles. What explains more than half becomes the reason.
void AttributeLateRanks(std::span<const RankEvidence> ranks, std::vector<Finding>& findings);

}  // namespace steplens::analysis
