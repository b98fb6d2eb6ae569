#pragma once

#include <functional>

#include "export/export.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// visit(row) for each row of memory_record.csv and MEMORY_RECORD, in their order.
void ForEachMemoryRow(const store::TraceStore& store, const ExportOptions& options,
                      const std::function<void(const store::MemorySampleTable::Row&)>& visit);

}  // namespace steplens::exporting
