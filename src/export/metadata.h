#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "store/trace_store.h"

namespace steplens::exporting {

// The facts of profiler_metadata.json (and META_DATA) among the store's: all but those of
// profiler_info*.json, of the device's own files and of the tables of a db that have a place of
// their own. Name and value, in order; each name once.
std::vector<std::pair<std::string_view, std::string_view>> MetadataFacts(
    const store::TraceStore& store);

}  // namespace steplens::exporting
