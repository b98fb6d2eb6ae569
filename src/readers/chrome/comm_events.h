#pragma once

#include <cstdint>
#include <vector>

#include "readers/chrome/event_batch.h"
#include "store/trace_store.h"

namespace steplens::readers {

// What the args of a communication slice say, with texts interned in the store. In slice order.
struct CommDetail {
  uint32_t slice = 0;
  StringId data_type{}, alg_type{}, op_type{}, group_name{}, transport{}, link{}, rdma_type{};
  EventBatch::Comm fields{};  // the numbers
};

// Fills comm_ops and comm_tasks. Ascend: slices on the group threads and on the plane threads of
// the process named HCCL or Communication. Kineto: kernels of NCCL/RCCL, and gloo's annotations on
// the host.
void FillCommunication(const std::vector<CommDetail>& details, store::TraceStore& out);

}  // namespace steplens::readers
