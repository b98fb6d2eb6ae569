#pragma once

#include <map>
#include <string>

#include "analysis/cluster/rank_facts.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// A communication group by names that are the same in every run of a job: no number or hash of the
// run is in them.
struct CallGroup {
  std::string kind;  // "tp"; without a name its members, "ranks 0-7"
  std::string name;  // "tp (ranks 0-7)"
};

// Names the groups of a rank: by the metadata, else by the order in which they are first asked for,
// "group 1". The store must outlive it.
class CallGroups {
 public:
  CallGroups(const store::TraceStore& store, const cluster::RankFacts& facts);

  // `id`: comm_ops.group_name or comm_times.group_name.
  const CallGroup& Of(StringId id);

 private:
  const store::TraceStore& store_;
  std::map<std::string, CallGroup> known_;  // by id and by name
  std::map<StringId, CallGroup> by_id_;
  size_t unknown_ = 0;
};

}  // namespace steplens::analysis
