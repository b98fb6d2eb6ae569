#pragma once

#include "readers/ascend_db/tracks.h"
#include "readers/prof/control_files.h"
#include "readers/prof/device_records.h"
#include "readers/prof/prof_clock.h"
#include "readers/prof/prof_files.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

namespace steplens::readers::prof {

// What the samplers of a device need.
struct SampleInput {
  const Side& side;
  const Control& control;
  const SideClock& clock;
  const ReadOptions& options;
  TrackBuilder& tracks;
  store::TraceStore& out;
};

// Frequencies of AI cores, memory and its bandwidths, links, caches and STARS' own samples:
// counters of the device's processes.
void WriteDeviceSamples(const SampleInput& input, const DeviceRecords& records);
// What the process and CANN's modules hold of the device's memory.
void WriteDeviceMemory(const SampleInput& input);

}  // namespace steplens::readers::prof
