#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/classify/classify.h"
#include "store/slice_kind.h"

namespace steplens::analysis {

// What a slice waits for.
enum class WaitKind : uint8_t {
  kNone,
  kHost,    // the host waits for the device
  kEvent,   // a stream waits for an event of another stream
  kNotify,  // a task of a collective waits for another rank
  kQueue,   // a thread of the host waits for another one
};

// By its name, where it ran and the kind of its category. What GPUs record of a synchronisation
// (cuda_sync: "Stream Sync") is the host's wait for the stream it is shown on.
WaitKind WaitKindOf(std::string_view name, TrackKind track,
                    store::SliceKind category = store::SliceKind::kOther);

// The same of a text that is the name or the category of a slice on a stream.
bool IsDeviceWait(std::string_view name_or_category);

// The task that marks a point of its stream, which others wait for: EVENT_RECORD.
bool IsEventRecord(std::string_view name);

}  // namespace steplens::analysis
