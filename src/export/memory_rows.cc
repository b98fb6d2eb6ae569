#include "export/memory_rows.h"

#include "analysis/cpu_device/memory_rows.h"

namespace steplens::exporting {

void ForEachMemoryRow(const store::TraceStore& store, const ExportOptions& options,
                      const std::function<void(const store::MemorySampleTable::Row&)>& visit) {
  if (options.is_raw) return analysis::ForEachMemorySample(store, visit);
  for (size_t i = 0; i < store.memory_samples.size(); ++i) visit(store.memory_samples.Get(i));
}

}  // namespace steplens::exporting
