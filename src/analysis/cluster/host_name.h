#pragma once

#include <string>

#include "store/trace_store.h"

namespace steplens::analysis::cluster {

// The machine a rank ran on, as its capture or the name of its folder says; empty if neither does.
std::string HostName(const store::TraceStore& rank);

}  // namespace steplens::analysis::cluster
