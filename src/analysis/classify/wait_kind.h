#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/classify/classify.h"

namespace steplens::analysis {

// What a slice waits for.
enum class WaitKind : uint8_t {
  kNone,
  kHost,    // the host waits for the device
  kEvent,   // a stream waits for an event of another stream
  kNotify,  // a task of a collective waits for another rank
  kQueue,   // a thread of the host waits for another one
};

// By its name and where it ran.
WaitKind WaitKindOf(std::string_view name, TrackKind track);

// Whether a slice of a stream waits instead of working, by its name or its category (cuda_sync).
bool IsDeviceWait(std::string_view name_or_category);

// The task that marks a point of its stream, which others wait for: EVENT_RECORD.
bool IsEventRecord(std::string_view name);

}  // namespace steplens::analysis
