#pragma once

#include "store/trace_store.h"

namespace steplens::server {

// A store with the data of another, not copied, and a copy of what is known about it (info,
// issues). `store` must outlive it, and its data must stay as they are; it may be moved.
store::TraceStore ViewOf(const store::TraceStore& store);

}  // namespace steplens::server
