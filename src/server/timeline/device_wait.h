#pragma once

#include <string_view>

namespace steplens::server {

// Whether the name or category of a task on a stream says that it waits: for an event, a
// notification, or another stream (EVENT_WAIT, Notify Wait, CAPTURE_WAIT, cuda_sync, ...).
bool IsDeviceWait(std::string_view text);

}  // namespace steplens::server
