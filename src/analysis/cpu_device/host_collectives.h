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

// Whether an operator of this name belongs to torch.distributed: its call (c10d::) or its work
// (gloo:, mpi:).
bool IsDistributedOp(std::string_view name);
// Whether it is the work, from the call to the end of the transfer.
bool IsDistributedWork(std::string_view name);

// The collectives by start, from the sheet "framework_collectives" and, where that has none, from
// the operators' names. Removes the sheet.
std::vector<HostCollective> TakeHostCollectives(store::TraceStore& store);

}  // namespace steplens::analysis
