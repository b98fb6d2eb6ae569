#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/trace_store.h"

namespace steplens::readers {

// What a trace says beside its events. In the object form `head` is the text before the key
// 'traceEvents', from the opening brace on, and `tail` what follows the array of events: the
// members become meta rows, as JSON text. Text behind the end of the trace, and an object that is
// not closed, are counted as issues; members before the place where it is cut off are used. In the
// array form `head` is empty. Returns baseTimeNanoseconds, or 0. `name` is used in messages.
int64_t ReadTraceMembers(std::string_view head, std::optional<std::string_view> tail,
                         const std::string& name, store::TraceStore& out);

}  // namespace steplens::readers
