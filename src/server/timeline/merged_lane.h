#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "server/timeline/rank_timeline.h"

namespace steplens::server {

// A lane that stands for several lanes of one rank, without its rows: who it is. Its parts are by
// id. An error if there are fewer than 2 or more than 64, or one is of another rank, has no slices
// of the store or is merged itself.
Result<std::unique_ptr<Lane>> MergeLanes(std::vector<const Lane*> lanes);

// Stacks the slices of all its parts anew. `timeline` is that of its rank. O(n log n).
void FillMerged(Lane& merged, const RankTimeline& timeline);

}  // namespace steplens::server
