#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/cluster/summary/waits.h"
#include "analysis/collectives/call_times.h"
#include "table/table.h"

namespace steplens::analysis::cluster {

// Who made whom wait, in which kind of group. The waiting is divided as AttributeWaits does it. Of
// calls of many members, pairs that matter to nobody are left out, so that the pairs of a job grow
// with its ranks and not with their square.
class WaitPairs {
 public:
  static constexpr size_t kAllPairs = 64;  // members: up to so many, every pair is kept

  // One call of a group of kind `dimension`, members in any order. In large calls a wait below a
  // tenth of `least_ns` is left out.
  void AddCall(const std::string& dimension, std::span<const CallMember> members, double least_ns);

  // ClusterWaitPairs, the longest waits first: waiting rank, blamed rank, kind of group, ms per
  // step, calls. `steps_of` has the steps of each rank; waits below `least_ms` a step are left out.
  table::Table ToTable(const std::map<int64_t, size_t>& steps_of, double least_ms) const;

 private:
  struct Pair {
    int64_t waiting = 0;
    int64_t blamed = 0;
    uint32_t dimension = 0;
    bool operator==(const Pair&) const = default;
  };
  struct Sum {
    Pair pair;
    double wait_ns = 0;
    int64_t calls = 0;  // 0: nobody's place yet
  };
  Sum& SumOf(const Pair& pair);
  Sum& PlaceOf(const Pair& pair);
  void Grow();

  std::vector<std::string> dimensions_;
  std::map<std::string, uint32_t> numbers_;
  // An open hash table, whose size is a power of two: pairs are looked up for every call.
  std::vector<Sum> sums_ = std::vector<Sum>(1024);
  size_t used_ = 0;
};

// The waiting in each communication group, and who caused most of it.
class GroupWaits {
 public:
  // `times` are the members', by the model. Who was not captured may have come last: only a call
  // that was captured whole blames somebody.
  void AddCall(const std::string& group, std::span<const CallMember> members,
               std::span<const CallTimes> times, bool is_whole);

  struct Group {
    int64_t calls = 0;
    double wait_ns = 0;  // of all members together
    std::set<int64_t> ranks;
    std::map<int64_t, WaitShare> shares;  // of calls that were captured whole
  };
  const std::map<std::string, Group>& groups() const { return groups_; }

 private:
  std::map<std::string, Group> groups_;
};

}  // namespace steplens::analysis::cluster
