#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::exporting {

// GB/s of each row of comm_tasks: bytes by time. A run of RDMA payload sends on a plane shares the
// bytes of all and the time up to the task that closes it.
std::vector<double> SmallOpBandwidths(const store::TraceStore& store);

// The tasks of each row of comm_ops, in the order of the store.
std::vector<std::vector<uint32_t>> TasksOfCommOps(const store::TraceStore& store);

// A run of payload sends beginning at place `first` of `plane`, rows of comm_tasks by start.
struct PayloadRun {
  size_t count = 0;        // sends in a row
  int64_t bytes = 0;       // of all
  uint32_t closing = ~0U;  // the row that ends the transfer; kNoId: it was not recorded
  int64_t dur_ns = 0;      // up to its end
};
PayloadRun FindPayloadRun(const store::TraceStore& store, const std::vector<uint32_t>& plane,
                          size_t first, std::string_view op_name);
bool IsPayloadSend(const store::TraceStore& store, uint32_t row);

}  // namespace steplens::exporting
