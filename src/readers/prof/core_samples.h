#pragma once

#include <vector>

#include "readers/prof/device_samples.h"

namespace steplens::readers::prof {

// Counters that were read of each AI core every few milliseconds instead of once a task: how busy
// the cores were over time (counters, and prof_core_samples for the exporter's database), and the
// metrics of each core over the whole capture (ai_core_utilization, ai_vector_core_utilization).
void WriteCoreSamples(const SampleInput& input, const std::vector<FrequencyPoint>& frequencies);

}  // namespace steplens::readers::prof
