#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/summary/summary_part.h"
#include "analysis/cluster/summary/waits.h"
#include "analysis/collectives/call_times.h"

namespace steplens::analysis::cluster {

// One call of a communication operation, as those of its members saw it that were captured.
struct JobCall {
  std::string group;  // its name
  std::string op;     // "hcom_allReduce"
  std::string step;   // "step10"; empty if not known
  bool is_p2p = false;
  std::vector<CallMember> members;
  // Parallel to members; nothing where it is not recorded.
  std::vector<std::optional<RecordedTimes>> recorded;
  int64_t small_ns = 0;           // what the slowest member lost to small packets
  std::string small_transport{};  // over this
};

// The calls of a job, put together from what each rank says of its own. The same call has the same
// name in its group on every rank. Sends and receives are paired by their numbers in groups of two,
// in larger ones by when they ended, on clocks that collectives set right: their members leave
// together.
class JobCalls {
 public:
  void Add(int64_t rank, const SummaryPart& part, const GroupBook& book);
  // After the last rank: by group.
  const std::vector<JobCall>& calls();
  // What to add to the times of a rank so that they compare with those of others.
  const std::map<int64_t, int64_t>& offsets_ns() const { return offsets_ns_; }

 private:
  struct Loose {  // a send or receive whose other end is not known yet
    CallMember member;
    std::optional<RecordedTimes> recorded;
    bool sends = false;
    std::string op;
  };
  static void AddTo(JobCall& call, int64_t rank, const SummaryPart& part, const CallPart& own);
  void SetClocksRight();
  void PairLoose();

  std::map<std::tuple<std::string, std::string, std::string>, JobCall> named_;  // group, name, step
  std::map<std::pair<std::string, std::string>, std::vector<Loose>> loose_;     // group, step
  std::map<int64_t, int64_t> offsets_ns_;
  std::vector<JobCall> calls_;
  bool is_finished_ = false;
};

}  // namespace steplens::analysis::cluster
