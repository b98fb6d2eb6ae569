#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// A collective that the host carried out (gloo), as the recorder described it.
struct HostCollective {
  uint32_t slice = store::kNoId;  // of its asynchronous work on the host
  std::string group;              // "gloo" if not recorded
  std::string op;                 // allReduce, broadcast, send, ...
  std::string data_type;          // FP32, ...; empty if not known
  int64_t count = store::kNone;
  int64_t size_bytes = store::kNone;
  std::vector<int64_t> ranks;   // of the group; empty if not known
  int64_t peer = store::kNone;  // whom it sends to or receives from, as a place in the group
  std::string name;             // hcom_allReduce__586_0_1: in its group the n-th by start
};

// What one rank moves to or from another in a collective. Ranks are places in the group.
struct HostLink {
  int64_t src = store::kNone;
  int64_t dst = store::kNone;
  int64_t size_bytes = 0;
};

// The links of `rank` in a collective, by the algorithm that gloo uses:
//   send, receive           to or from the peer
//   allReduce               a ring: 2 (n-1)/n of the data to the next rank
//   allGather               a ring: n-1 times its own part to the next rank
//   reduceScatter           a ring: (n-1)/n of the data to the next rank
//   alltoall                a part of n to each other rank
// None where the ranks, the size or the way of the data are not known (a broadcast, whose root is
// not recorded), or where the group has one rank.
std::vector<HostLink> LinksOf(const HostCollective& collective, int64_t rank);

// Whether an operator of this name belongs to torch.distributed: its call (c10d::) or its work
// (gloo:, mpi:).
bool IsDistributedOp(std::string_view name);
// Whether it is the work, from the call to the end of the transfer.
bool IsDistributedWork(std::string_view name);

// The collectives by start, from the sheet "framework_collectives" and, where that has none, from
// the operators' names. Removes the sheet.
std::vector<HostCollective> TakeHostCollectives(store::TraceStore& store);

}  // namespace steplens::analysis
