#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cluster/options.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/cluster/recipes/host_calls.h"
#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// One communication operator of a rank on its way to the root.
struct CommCall {
  std::string group;       // group id
  std::string name;        // hcom_allReduce__586_0_1
  int64_t step = kNoStep;  // in which it was launched; kNone outside all steps
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(group, name, step, begin_ns, dur_ns);
  }
};

// The operators of a rank that the host launched inside the step asked for, in order of start. One
// whose launch is not recorded counts by its own start; in compat mode it does not count at all.
std::vector<CommCall> CollectCommCalls(const store::TraceStore& rank, const RankFacts& facts,
                                       const HostCalls& host, const Options& options);

// Text captures have the names of groups, databases mostly their ids: the rank's metadata tell
// which belongs to which. Calls of ranks of both kinds meet by the id.
class GroupIds {
 public:
  explicit GroupIds(const RankFacts& facts);
  // The id if it is known, else the group as it is.
  const std::string& Find(const std::string& group) const;

 private:
  std::map<std::string, std::string> ids_;
};

// Where metadata tell nothing, calls of ranks of both kinds meet by the name, which follows from
// the id. A group is called what the first rank that has it calls it.
class GroupSpellings {
 public:
  const std::string& Find(const std::string& group);

 private:
  std::map<std::string, std::string> first_;  // by name and by id
};

// The same operators as communication.json and CommAnalyzerTime have them, for captures without a
// timeline. Their durations are the elapse times.
std::vector<CommCall> CommCallsOfResults(const store::TraceStore& rank, const RankFacts& facts,
                                         const Options& options);

// Sending or receiving between two ranks, by the operator's name. Collectives that only have such a
// word inside (batchSendRecv) are none.
bool IsPointToPoint(std::string_view op_name);

// How many members the rank's metadata says its groups have, by group id.
std::map<std::string, size_t> GroupSizes(const RankFacts& facts);

}  // namespace steplens::analysis::cluster
