#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cluster/rank_facts.h"
#include "analysis/cluster/rank_set.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// Point-to-point by the operator's name (send, receive, recv), else collective.
bool IsP2pName(std::string_view op_name);

// A group that a rank communicated in, and how. A group may be used both ways.
struct GroupUse {
  std::string name;
  bool is_p2p = false;

  auto operator<=>(const GroupUse&) const = default;
  template <typename Archive>
  void Fields(Archive& archive) {
    archive(name, is_p2p);
  }
};

// The groups in a rank's communication results or, where there are none, in its timeline; in the
// order of first sight.
std::vector<GroupUse> UsedGroups(const store::TraceStore& rank);

// By group name, how many members its links show: one to local rank 7 says that there are eight.
std::map<std::string, int64_t> LeastMembers(const store::TraceStore& rank);

// All communication groups of the job, collected rank by rank.
class GroupBook {
 public:
  struct Group {
    GroupUse use;
    std::string id;       // empty without metadata
    std::string pg_name;  // empty without metadata
    RankSet seen;         // captured ranks that used it
    RankSet members;      // of the metadata, else `seen`
    size_t sight = 0;     // its place in the order of first sight
  };

  void Add(const RankFacts& facts, const std::vector<GroupUse>& used);

  // By type (collective first), then by name. Valid until the next Add.
  const std::vector<Group>& groups() const;
  const Group* Find(const GroupUse& use) const;
  // What metadata says of a group; nullptr if it says nothing.
  const GroupFact* FindFact(const std::string& group_name) const;

 private:
  std::map<std::string, GroupFact> facts_;  // by group name
  struct Seen {
    size_t sight = 0;
    std::vector<int64_t> ranks;  // ascending
  };
  std::map<GroupUse, Seen> seen_;
  mutable std::vector<Group> groups_;
  mutable bool is_current_ = false;
};

// Pipeline stages: sets of ranks that do the same part of the model, by smallest rank.
// Point-to-point groups named pp... chain ranks through the stages; collective groups that meet
// each chain at most once lie within a stage. Empty if there are no such chains. `compat`: chains
// grow in one pass only.
std::vector<RankSet> InferStages(const GroupBook& book, bool compat);

}  // namespace steplens::analysis::cluster
