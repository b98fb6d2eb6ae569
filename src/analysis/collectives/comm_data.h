#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/communication/group_book.h"
#include "analysis/collectives/call_times.h"
#include "analysis/text/message.h"
#include "store/trace_store.h"

namespace steplens::analysis {

inline constexpr std::string_view kTotalOp = "Total Op Info";

// Which communication is looked at: of a step, a group (its name, "p2p", or nothing for all) and an
// operator (a name, or the total).
struct CommScope {
  std::optional<int64_t> step{};
  std::string group{};
  std::string op{kTotalOp};
  bool is_total() const { return op == kTotalOp; }
  bool HasGroup(std::string_view name, bool is_p2p) const {
    return group.empty() || (group == "p2p" ? is_p2p : group == name);
  }
};

// A row of a rank's communication results, without totals. Rows of ranks that have no results
// (level 0, GPUs) come from the timeline. Transit, wait and idle are those of the model
// (collectives/call_times.h), and NaN where it does not know them.
struct CommTime {
  int64_t rank = 0;
  int64_t step = store::kNone;
  std::string op{};
  std::string group{};  // hash of the id
  bool is_p2p = false;
  TimesSource source = TimesSource::kUnknown;
  CallPeers peers{};
  double start_us = 0;  // since the epoch
  double elapse_ms = 0;
  double transit_ms = 0;
  double wait_ms = 0;
  double synchronization_ms = 0;
  double idle_ms = 0;
};

struct CommTraffic {
  int64_t rank = 0;
  int64_t step = store::kNone;
  std::string op{};
  std::string group{};
  bool is_p2p = false;
  std::string transport{};  // RDMA, SDMA and what SDMA consists of: HCCS, PCIE, SIO
  double size_mb = 0;
  double time_ms = 0;
  double bandwidth_gbps = 0;
  double large_packet_ratio = 0;
  std::vector<cluster::CommPacket> packets{};
};

struct CommData {
  std::vector<CommTime> times;
  std::vector<CommTraffic> traffic;
  cluster::GroupBook groups;
  bool has_derived = false;  // some rank had no communication results
  // Ranks of the group of which the fewest were captured; 0 if all were, as far as anybody says.
  int64_t captured = 0;
  int64_t members = 0;
  bool has_unknown_size = false;  // of a group nobody says how many ranks it has
};

// The communication of all ranks in scope (its operator is not looked at).
CommData ReadCommData(const store::Job& job, const CommScope& scope);

// "step50" -> 50; kNone for anything without a number.
int64_t StepNumber(std::string_view text);

// What answers about communication have to say of their rows: where times come from, and that ranks
// are missing.
std::vector<Message> CommWarnings(const CommData& data);

}  // namespace steplens::analysis
