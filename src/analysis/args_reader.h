#pragma once

#include <functional>
#include <string>

#include "store/trace_store.h"

namespace steplens::analysis {

// The args of a slice as JSON text, read again from the input by whoever may open files; empty
// where there are none. Thread safe.
using ArgsReader = std::function<std::string(const store::TraceStore&, store::SliceId)>;

}  // namespace steplens::analysis
