#pragma once

#include <string>

#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::exporting {

// analysis.db (MindSpore: communication_analyzer.db): StepTraceTime in us, and what
// communication.json and communication_matrix.json have, in ms and 10^6 bytes. At Level0 only the
// first, unless the store holds the others.
Status WriteAnalysisDb(const store::TraceStore& store, const std::string& path);

}  // namespace steplens::exporting
