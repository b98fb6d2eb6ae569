#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// The tasks of each operation: those of its group (and, where they say it, of its name) that start
// when it runs. One entry per row of comm_ops: rows of comm_tasks by start.
std::vector<std::vector<uint32_t>> AssignCommTasks(const store::TraceStore& store);

// Data that moved from one rank to another, or within a chip.
struct Transfer {
  std::string transport;  // LOCAL, HCCS, PCIE, SIO, SDMA, RDMA
  int64_t src_rank = store::kNone;
  int64_t dst_rank = store::kNone;
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
  int64_t size_bytes = 0;
};

// The transfers among the tasks (rows of comm_tasks by start) of one operation:
//   Memcpy and Reduce_Inline by SDMA, each one transfer
//   a run of RDMA payload sends on a plane, up to the task that closes it; without one it is none
std::vector<Transfer> FindTransfers(const store::TraceStore& store,
                                    const std::vector<uint32_t>& tasks, std::string_view op_name);

// Whether an operation is one of a sender and a receiver.
bool IsPointToPoint(std::string_view op_name, bool is_mindspore);

}  // namespace steplens::analysis
