#pragma once

#include "analysis/advice/finding.h"
#include "analysis/cluster/summary/late_ranks.h"
#include "analysis/cluster/summary/slow_links.h"
#include "analysis/cluster/summary/small_packets.h"

// The rules about the job (late_rank, late_group, uneven_load, slow_link, small_packets): what
// cluster/summary found, as findings. Their saving is what was found per step, until a replay of
// the job says what it costs.

namespace steplens::analysis {

// `peers_ms` is what the ranks that are not late wait per step, `own_ms` what these do.
Finding MakeFinding(const cluster::LateGroup& late, double own_ms, double peers_ms);
Finding MakeFinding(const cluster::SlowLink& link);
Finding MakeFinding(const cluster::SmallPackets& small);

// Whether it is about ranks that the others wait for.
bool IsLate(RuleId rule);

// The average AI Core frequency of a rank while it computes.
struct ComputingClock {
  int64_t rank = 0;
  double mhz = 0;
};

// Adds to the reason that a late rank's clock is lower than that of a peer.
void BlameClock(const ComputingClock& late, const ComputingClock& peer, Finding& finding);

}  // namespace steplens::analysis
