#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cluster/options.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/cluster/recipes/host_calls.h"
#include "analysis/collectives/group_sizes.h"
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
std::map<std::string, size_t> SizesByMetadata(const RankFacts& facts);

// Calls of groups of which ranks were not captured: the last to arrive may be one of those, so
// nobody is blamed. A sentence for the notes, in the end.
class PartlyCapturedCalls {
 public:
  void AddRank(const std::map<std::string, int64_t>& group_sizes) { sizes_.Add(group_sizes); }
  // Ranks of the group of a call, captured or not; 0 if nobody says.
  int64_t MembersOf(const std::string& group) const;
  // Whether ranks are missing in a call that `captured` ranks recorded; counts it then.
  bool Count(const std::string& group, size_t captured);
  void AddNotes(std::vector<std::string>& notes) const;

 private:
  analysis::GroupSizes sizes_;
  size_t calls_ = 0;
  size_t unknown_ = 0;    // calls of groups of unknown size
  int64_t captured_ = 0;  // of the call of which the fewest ranks were captured
  int64_t members_ = 0;
};

}  // namespace steplens::analysis::cluster
