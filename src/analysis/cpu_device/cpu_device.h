#pragma once

#include "store/trace_store.h"

namespace steplens::analysis {

// Derives the device of a capture whose device is the host, and appends it:
//
//   kernels    operators that contain no other operator and are no user range: name as it is, type
//              without the name space, core AI_CORE (the one core type that every analysis counts
//              as computing and none warns about), stream = thread; and collectives
//   comm_ops   work of gloo, named as HCCL would, on a track per group
//   slices     the same on processes "Ascend Hardware" and "Communication"; their launches, 0 long,
//              as Node@launch of "CANN"; Computing, Communication, ... of "Overlap Analysis"
//   flows      async_npu from the operator, HostToDevice from the launch, one each a kernel
//
// Nothing is measured twice: a kernel has the times of its operator. O(n log n).
void AppendCpuDevice(store::TraceStore& store);

}  // namespace steplens::analysis
