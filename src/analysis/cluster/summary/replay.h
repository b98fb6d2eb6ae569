#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/cluster/summary/job_calls.h"
#include "analysis/whatif/dependency_graph.h"

namespace steplens::analysis::cluster {

// Who a rank is for the replay.
struct ReplayRank {
  int64_t rank = 0;
  int64_t stage = 0;      // ranks of a stage do the same work
  int64_t offset_ns = 0;  // of its clock
  int64_t work_ns = 0;    // computing and free time of a step
};

// Something that may be mended: work of ranks that takes longer than that of their peers, or
// transfers of calls.
struct ReplayFault {
  std::vector<int64_t> ranks;
  double share = 1;                        // of what the ranks do longer
  bool is_uneven = false;                  // work of experts, which mended is divided evenly
  std::map<size_t, int64_t> transfers_ns;  // by call: how much longer its transfer takes
};

struct ReplayCost {
  double ms = 0;          // what a step would grow by if this were the only fault
  double mending_ms = 0;  // what a step would gain if it alone were mended
};

// The job as a schedule: a rank starts a call some time after what it did before ended, and a call
// ends some time after the last of its members came. These times are taken from the captures; with
// some of them changed, the schedule tells how long the steps would have been.
//
// What a call's start goes after is found by looking at the ranks of a stage together, which do the
// same: usually the end of the rank's call before; the start of one that some rank of the stage did
// not wait for; both where communication runs behind computing.
class Replay {
 public:
  // `steps` of each rank; kinds of groups ("tp") by group name.
  Replay(const std::vector<JobCall>& calls, const std::vector<ReplayRank>& ranks,
         const std::map<std::string, std::string>& dimensions, size_t steps);

  // Whether the schedule gives back the times it was made from.
  bool is_sound() const { return is_sound_; }

  // Per step: how long a rank works between the calls that bring tokens to experts and back.
  std::map<int64_t, double> ExpertWorkMs() const;

  std::vector<ReplayCost> CostsOf(const std::vector<ReplayFault>& faults);

 private:
  // A time in a rank's sequence of calls.
  struct Event {
    uint32_t index = 0;
    bool is_end = false;
    auto operator<=>(const Event&) const = default;
  };
  struct Wait {  // the call starts at least so long after the event
    Event after;
    int64_t gap_ns = 0;
    int64_t mended_ns = 0;
  };
  struct Member {
    uint32_t call = 0;
    uint32_t kind = 0;  // of the call: dimension and operation
    uint32_t step = 0;
    int64_t start_ns = 0;  // all clocks alike, from the first call of the job
    int64_t end_ns = 0;
    std::vector<Wait> waits;  // empty: the first of its rank
    uint32_t binding = 0;     // the one of `waits` that held the call up
  };
  struct Rank {
    ReplayRank info;
    std::vector<Member> calls;  // by start
    int64_t zero_ns = 0;        // when the rank began
    Wait first;                 // from there to its first call
    int64_t first_work_ns = 0;  // what it did meanwhile
    size_t sequence = 0;        // equal for ranks with the same kinds of calls
  };
  using Positions = std::vector<size_t>;  // ranks of a class, as indexes of ranks_

  void FillRanks(const std::vector<JobCall>& calls, const std::vector<ReplayRank>& ranks,
                 const std::map<std::string, std::string>& dimensions);
  void FillWaits(const Positions& alike, size_t position, const std::set<uint32_t>& running);
  Event LastEvent(const Rank& rank, size_t position) const;
  int64_t TimeOf(const Rank& rank, const Event& event) const;
  void FillFirst(Rank& rank) const;
  void BuildGraph();
  bool IsExpertWork(const Rank& rank, const Member& member, const Wait& wait) const;

  void Mend(const std::vector<ReplayFault>& faults);
  // `same_stage`: they also begin a step together.
  void MendByPeers(const Positions& suspects, const Positions& peers, bool same_stage);
  void MendByLikes(const Positions& suspects, const Positions& good);
  void MendEvenly(const Positions& alike);

  // When the last call ends, with the faults mended that `is_mended` says; far in the past if calls
  // wait for each other.
  int64_t Run(const std::vector<ReplayFault>& faults, const std::vector<bool>& is_mended) const;
  int64_t Transfer(size_t call, const std::vector<ReplayFault>& faults,
                   const std::vector<bool>& is_mended) const;

  struct Call {
    std::vector<std::pair<uint32_t, uint32_t>> members;  // rank of ranks_, index of its calls
    int64_t transfer_ns = 0;
  };
  std::vector<Call> calls_;
  size_t used_calls_ = 0;  // those with members
  std::vector<Rank> ranks_;
  std::vector<Positions> classes_;
  DependencyGraph graph_;
  std::vector<bool> is_expert_kind_;
  std::vector<bool> may_hide_kind_;
  size_t steps_ = 1;
  bool is_sound_ = false;
};

}  // namespace steplens::analysis::cluster
