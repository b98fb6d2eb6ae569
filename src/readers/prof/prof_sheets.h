#pragma once

#include "readers/prof/aicpu_records.h"
#include "readers/prof/device_samples.h"
#include "readers/prof/write_device.h"

namespace steplens::readers::prof {

// Facts that no table of the store fits, as sheets with the columns of the exporter's csv files:
// aicpu, dp, aicpu_mi, l2_cache and soc_pmu of a device, fusion_op and static_op_mem of the host.
void WriteDeviceSheets(const SampleInput& input, const DeviceView& view, const AicpuRecords& aicpu,
                       Dictionary& names);
void WriteFusionSheet(const ApiTree& tree, const HostRecords& records, Dictionary& names,
                      store::TraceStore& out);
void WriteStaticMemorySheet(const HostRecords& records, Dictionary& names, store::TraceStore& out);

}  // namespace steplens::readers::prof
