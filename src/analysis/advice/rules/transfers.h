#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/collectives/comm_data.h"
#include "store/trace_store.h"

// Transfers that are slow for a reason that can be named, by the rules of the reference viewer.

namespace steplens::analysis {

// An operator whose transfers are no multiple of 512 bytes.
struct UnalignedTransfer {
  std::string op;
  int64_t tasks = 0;
  int64_t bytes = 0;     // of the first
  int64_t begin_ns = 0;  // of the first task
  int64_t dur_ns = 0;
};
std::vector<UnalignedTransfer> ListUnalignedTransfers(const store::TraceStore& store);

// A slow collective beside a MatMul.
struct ContendedTransfer {
  std::string op;
  double gbps = 0;
  int64_t shared_ns = 0;  // both run
  uint32_t comm_op = 0;
};
std::vector<ContendedTransfer> ListContendedTransfers(const store::TraceStore& store,
                                                      const CommData& data);

// An operator that takes seconds on all ranks, over RDMA.
struct Retransmission {
  std::string group;
  std::string op;
  double elapse_ms = 0;
  double transit_ms = 0;
};
std::vector<Retransmission> ListRetransmissions(const CommData& data);

}  // namespace steplens::analysis
