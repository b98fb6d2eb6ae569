#pragma once

#include <cstdint>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// An operator that counts as a kernel where the host is the device.
struct KernelOperator {
  uint32_t slice = store::kNoId;
  uint32_t host_op = store::kNoId;  // row of host_ops
};

// The operators that compute and call no other that does, and copies and fills beside them. By
// names and nesting alone (op_roles.h), so the same program has the same kernels on every rank, in
// every run and with any switches. Those of a thread do not overlap.
std::vector<KernelOperator> KernelOperators(const store::TraceStore& store);

}  // namespace steplens::analysis
