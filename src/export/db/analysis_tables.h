#pragma once

#include <string>

#include "base/status.h"
#include "export/export.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// analysis.db (MindSpore: communication_analyzer.db): StepTraceTime in us, and what
// communication.json and communication_matrix.json have, in ms and 10^6 bytes. At Level0 only the
// first, unless the store holds the others. Of raw captures of torch_npu the first names the
// device, as its newest versions do.
Status WriteAnalysisDb(const store::TraceStore& store, const ExportOptions& options,
                       const std::string& path);

}  // namespace steplens::exporting
