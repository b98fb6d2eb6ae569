#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/cluster/answer.h"
#include "analysis/cluster/options.h"
#include "analysis/cluster/rank_facts.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// A send or receive of one rank.
struct P2POp {
  std::string name;
  std::string group;  // group id
  int64_t begin_ns = 0;
  int64_t correlation = store::kNone;
  bool is_receive = false;
  int64_t src = store::kNone;  // local ranks in the group; none if its tasks do not say
  int64_t dst = store::kNone;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, group, begin_ns, correlation, is_receive, src, dst);
  }
};

// The sends and receives of one rank, in order of start.
struct P2POps {
  std::vector<P2POp> ops;
  int64_t ambiguous = 0;  // left out: their tasks name several peers

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(ops, ambiguous);
  }
};
P2POps FindP2POps(const store::TraceStore& rank, const Options& options);

// A send or receive with the id that its other end carries, too.
struct P2PPair {
  P2POp op;
  std::string id;  // "<group name>_<src>_<dst>_<n>", local ranks; compat: "169_0_1_0"
  int64_t src_rank = store::kNone;  // global ranks, where the metadata knows the group
  int64_t dst_rank = store::kNone;
};

// Numbers the operators of one rank per group, source and destination. The n-th send from a to b
// meets the n-th receive of b from a. Operators whose ends are not known are left out; in a group
// of two the metadata is enough.
std::vector<P2PPair> PairP2POps(const RankFacts& facts, std::vector<P2POp> ops, bool compat);

// The column opConnectionId of the rank's COMMUNICATION_OP.
RankEdit P2PEdit(int64_t rank, const std::vector<P2PPair>& pairs);

}  // namespace steplens::analysis::cluster
