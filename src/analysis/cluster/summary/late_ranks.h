#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cluster/rank_facts.h"

namespace steplens::analysis::cluster {

// What a rank did in an average step, in milliseconds.
struct RankLoad {
  int64_t rank = 0;
  std::string host;
  std::optional<Coordinates> at;
  double step_ms = 0;       // on the device
  double step_time_ms = 0;  // with the host (breakdown/step_times.h); 0 if not known
  double computing_ms = 0;
  double free_ms = 0;
  double exposed_ms = 0;  // communication that no computing hides
  double transit_ms = 0;
  double suffered_ms = 0;  // waited for others
  double caused_ms = 0;    // others waited for it
  double expert_ms = 0;    // work of its experts; 0 if it has none, or nothing tells
  bool has_calls = true;   // else nobody knows how long it waited
  // Whether its calls say how they divide, and whether all ranks of one of them were captured.
  bool are_times_known = true;
  bool is_cause_known = true;

  // Filled by FindLateRanks.
  double late_ms = 0;          // how much less it waits than its peers: what it costs the step
  double compute_percent = 0;  // its computing against the median of its peers
};

enum class LateReason : uint8_t { kComputing, kHost, kTransfers, kExperts, kUnknown };

// A rank, or all ranks of a host or of one index of a parallel dimension, that the others wait for.
struct LateGroup {
  std::string dimension;  // "rank", "host", "tp", "cp", "dp", "pp", "ep"
  std::string index;      // rank number, host name, index in the dimension
  std::vector<int64_t> ranks;
  double late_ms = 0;  // per step
  LateReason reason = LateReason::kUnknown;
  double excess_ms = 0;    // of what the reason names, against the peers' median
  bool is_hidden = false;  // something later hides it: late_ms is what it would cost without
  std::string host{};      // of a stage: the one that it is
};

// In a synchronous job all ranks take the same time for a step, so the one that waits least is the
// one that all wait for. Ranks are compared with those of their pipeline stage, which do the same
// work; stages are compared by what they do themselves, and a host that is made of slow stages is
// named instead of them. Ranks whose experts alone work longer have more tokens than others: that
// is one finding for all, and the rest is looked at as if tokens were shared evenly. Below 2 % of a
// step, or within the spread of the others, nothing is named. What is explained is then taken away
// and the rest looked at again, by what ranks do themselves (computing, launching): a fault behind
// a larger one makes nobody wait yet. Largest first.
std::vector<LateGroup> FindLateRanks(std::vector<RankLoad>& ranks);

}  // namespace steplens::analysis::cluster
