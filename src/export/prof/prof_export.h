#pragma once

#include <string>

#include "base/status.h"
#include "base/thread_pool.h"
#include "store/trace_store.h"

// The results of a PROF folder as the exporter of CANN writes them, from the store that
// readers/prof made of its raw data (docs/formats/prof.md). Each file appears whole or not at all.

namespace steplens::exporting {

// The files of mindstudio_profiler_output into `dir`, which exists: op_summary_<stamp>.csv, ...,
// msprof_<stamp>.json and README.txt. A file without rows is not created.
Status WriteProfText(const store::TraceStore& store, const std::string& stamp,
                     const std::string& dir, ThreadPool& pool);

// msprof_<stamp>.db at the path.
Status WriteProfDb(const store::TraceStore& store, const std::string& path);

// communication.json and communication_matrix.json (if `has_text`) and communication_analyzer.db
// into `dir`, which exists. `has_matrix`, `has_times`: which of the two was asked for. No files
// where nothing was communicated.
struct ProfAnalysis {
  bool has_text = true;
  bool has_times = true;
  bool has_matrix = true;
};
Status WriteProfAnalysis(const store::TraceStore& store, const ProfAnalysis& what,
                         const std::string& dir);

}  // namespace steplens::exporting
