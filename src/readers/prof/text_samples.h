#pragma once

#include "readers/prof/device_samples.h"

namespace steplens::readers::prof {

// Tables that the collector keeps as text about a device: HCCS, NIC, RoCE and network statistics.
void WriteTextSamples(const SampleInput& input);

}  // namespace steplens::readers::prof
