#pragma once

#include "server/api/context.h"
#include "server/slice_filter.h"

namespace steplens::server {

// The filter of a request: "filter" as JSON (filter_json.h), else "q" with "mode". An error if both
// are absent.
Result<SliceFilter> FilterParam(const Ask& ask);

}  // namespace steplens::server
