#pragma once

#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// Who allocated each block of memory: as the capture says, else (Kineto) the host operator that ran
// at that moment, of several the one that began last, and of
// allocating ones (aten::empty) the one around. Empty if none did. Views into the store.
std::vector<std::string_view> AllocationNames(const store::TraceStore& store);

}  // namespace steplens::analysis
