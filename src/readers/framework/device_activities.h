#pragma once

#include "base/status.h"
#include "readers/framework/context.h"
#include "readers/framework/record_reader.h"

namespace steplens::readers {

// steplens.device, what the vendor's activity interface delivered ->
//   kernels        kernels, and slices on the device's streams
//   communication  comm_ops, rows of kernels and slices on a track per communicator
//   copies, memset slices on the device's streams
//   API calls      slices of process "CANN", named by their layer: Node@launch
// and a HostToDevice flow from each API call to the work of its correlation id (of several calls
// with one id the innermost layer: node, then acl, then runtime). Markers are not taken: the host's
// are in steplens.mark; allocations of the driver neither. Times are on the epoch already.
Status ReadDeviceActivities(RecordReader& reader, FrameworkContext& ctx);

}  // namespace steplens::readers
