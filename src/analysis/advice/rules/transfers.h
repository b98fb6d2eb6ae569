#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/collectives/comm_data.h"
#include "analysis/overlap/overlap.h"
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
  // Of all its transfers by SDMA above the limit, and of those that are not aligned.
  int64_t all_bytes = 0;
  int64_t all_ns = 0;
  int64_t unaligned_ns = 0;
};
std::vector<UnalignedTransfer> ListUnalignedTransfers(const store::TraceStore& store,
                                                      int64_t aligned_bytes = 512);

// A slow collective beside a MatMul.
struct ContendedTransfer {
  std::string op;
  double gbps = 0;
  int64_t shared_ns = 0;  // both run
  Interval times{};
  double elapse_ms = 0;
};
std::vector<ContendedTransfer> ListContendedTransfers(const store::TraceStore& store,
                                                      const CommData& data, double gbps = 14.4);

// An operator that takes seconds on all ranks, over RDMA.
struct Retransmission {
  std::string group;
  std::string op;
  double elapse_ms = 0;
  double transit_ms = 0;
};
std::vector<Retransmission> ListRetransmissions(const CommData& data, double elapse_ms = 4000);

}  // namespace steplens::analysis
