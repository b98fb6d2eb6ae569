#pragma once

#include <functional>

#include "server/api/context.h"
#include "server/rank_links.h"

namespace steplens::server {

// An arrow from one rank to another, as it is shown.
struct RankArrow {
  const Lane* from = nullptr;
  const Lane* to = nullptr;
  int64_t from_ns = 0;  // shown
  int64_t to_ns = 0;
};

// Collectives: from the part that came last, at its begin, to each other part, at the moment it
// stops waiting: as long before its end as the shortest part took. Which was last is told by the
// durations, not by clocks. Parts that no lane shows are left out.
void ForEachCollectiveArrow(const Ask& ask, const RankLinks& links,
                            const std::function<void(const RankArrow&)>& visit);
// From the begin of a send to the begin of its receive, or the end of it if that began earlier.
void ForEachTransferArrow(const Ask& ask, const RankLinks& links,
                          const std::function<void(const RankArrow&)>& visit);

// The slice that shows a row of a rank's comm_ops; no lane if the timeline does not have it.
SliceRef SliceOf(const Ask& ask, const RankLinks::End& end);

}  // namespace steplens::server
