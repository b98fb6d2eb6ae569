#pragma once

#include <string>
#include <vector>

#include "analysis/cluster/summary/late_ranks.h"
#include "analysis/cluster/summary/slow_links.h"
#include "analysis/cluster/summary/small_packets.h"
#include "table/table.h"

namespace steplens::analysis::cluster {

// A finding in both languages.
struct Finding {
  std::string kind;     // late_rank, late_group, uneven_load, slow_link, small_packets
  std::string subject;  // "rank 5", "host node1", "link 3-4"
  std::string subject_zh;
  std::string ranks;
  std::vector<int64_t> late_ranks;  // whom the others wait for; empty of links
  std::string felt_in;              // the kind of group where the others wait most
  bool is_computing = false;        // they are late because they compute longer
  double ms_per_step = 0;
  double share_percent = 0;  // of the step
  bool is_hidden = false;    // it would cost that if what is slower were mended
  std::string reason_en;
  std::string reason_zh;
  std::string advice_en;
  std::string advice_zh;
};

// What was found, in words.
Finding WordFinding(const LateGroup& late);
Finding WordFinding(const SlowLink& link);
Finding WordFinding(const SmallPackets& small);

// The average AI Core frequency of a rank while it computes.
struct ComputingClock {
  int64_t rank = 0;
  double mhz = 0;
};

// Adds to the reason that a late rank's clock is lower than that of a peer.
void BlameClock(const ComputingClock& late, const ComputingClock& peer, Finding& finding);

// Marks, in words as well, a finding that something slower hides.
void SetHidden(bool is_hidden, Finding& finding);

// ClusterFindings, in the order given.
table::Table FindingTable(const std::vector<Finding>& findings);

}  // namespace steplens::analysis::cluster
