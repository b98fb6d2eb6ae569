#pragma once

#include <cstdint>

#include "store/trace_store.h"

namespace steplens::analysis {

// Derives the device of a capture whose device is the host, and appends it:
//
//   kernels    operators that compute and call no other that does, and copies and fills beside
//              them (op_roles.h; by names and nesting, never by time): name as it is, type without
//              the name space, core AI_CORE (the one core type that every analysis counts as
//              computing and none warns about), stream = thread; and collectives
//   comm_ops   work of gloo, named as HCCL would, on a track per group
//   slices     the same on processes "Ascend Hardware" and "Communication", and Computing,
//              Communication, ... of "Overlap Analysis", cut where a step ends
//   flows      async_npu from the operator, one a kernel. There is no launch between the two: on a
//              CPU the call is the execution, so there are no CANN calls and no HostToDevice flows
//
// Nothing is measured twice: a kernel has the times of its operator. O(n log n).
//
// kLeftOut: the tracks of Overlap Analysis only. Its slices are two in three of all that is
// derived; who reads the store once, to write it, can compute them on the way. So it is with the
// waits of kernels, which are not known then.
enum class OverlapSlices : uint8_t { kAdded, kLeftOut };
void AppendCpuDevice(store::TraceStore& store, OverlapSlices slices = OverlapSlices::kAdded);

}  // namespace steplens::analysis
