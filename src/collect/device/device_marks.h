#pragma once

namespace steplens::collect {

// A user's mark that names a stream: while the device records marks, the stream gets one, too.
// Cheap otherwise.
void MarkOnStream(const char* message, void* stream);

}  // namespace steplens::collect
