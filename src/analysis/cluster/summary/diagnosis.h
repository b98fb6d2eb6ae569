#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/cluster/summary/job_calls.h"
#include "analysis/cluster/summary/late_ranks.h"
#include "analysis/cluster/summary/slow_links.h"
#include "analysis/cluster/summary/small_packets.h"

namespace steplens::analysis::cluster {

// What is known of a job, of `steps` steps.
struct JobFacts {
  const std::vector<JobCall>& calls;
  const std::map<int64_t, int64_t>& offsets_ns;          // of the ranks' clocks
  const std::map<std::string, std::string>& dimensions;  // of groups, by name
  const std::vector<LinkTotal>& links;
  const std::vector<PacketTotal>& packets;
  size_t steps = 1;
  bool is_complete = true;      // all members of all calls were captured, as far as anybody says
  bool are_sizes_known = true;  // how many members each group has
  int64_t ranks_expected = 0;   // of the job; 0 if not known
};

// A finding, and whether its ranks are late because they compute longer.
struct Diagnosed {
  Finding finding;
  bool is_computing = false;
};

// What is wrong with the job, the most expensive first: looks for late ranks, slow links and small
// packets, and asks a replay of the job what each of them costs a step. `loads` gets their scores.
std::vector<Diagnosed> Diagnose(const JobFacts& job, std::vector<RankLoad>& loads);

// What a step takes on most ranks.
double UsualStepMs(const std::vector<RankLoad>& loads);

}  // namespace steplens::analysis::cluster
