#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "open/open.h"
#include "readers/detect.h"
#include "store/trace_store.h"

// One raw capture to its results, as `steplens analyse` does it; safe to call for different
// captures at the same time.

namespace steplens::cli {

struct AnalysisRequest {
  std::vector<std::string> types;  // "text", "db"; empty: as the capture's configuration says
  std::vector<int64_t> steps;      // only these; empty: all
  bool force = false;              // also where the results are up to date
  std::optional<bool>
      simplify{};  // remove the exporter's files; nullopt: as the configuration says
};

// What became of a capture.
struct AnalysisOutcome {
  bool is_skipped = false;
  std::string message;  // one line for the user: what was written, or why nothing was
  std::string warning;  // one line: what of the raw data is missing in it; empty if nothing
};

// Reads the capture and writes <capture>/ASCEND_PROFILER_OUTPUT: whole, under another name first,
// with analyse.done in it; results that are there are replaced only then. Nothing is done if they
// are newer than the raw data and of the types and steps asked for. Refuses a capture that is still
// being recorded. Afterwards cleans up (capture_cleanup.h). Leaves a
// log in <capture>/logs.
Result<AnalysisOutcome> AnalyseCapture(const readers::RankSource& capture,
                                       const AnalysisRequest& request, ThreadPool& pool);

// Whether the results of a capture, of whatever age, have all of these types.
bool HasResultsOf(const std::string& capture, const std::vector<std::string>& types);

// The capture's store. Refuses a capture that is still being recorded.
Result<store::TraceStore> OpenRawCapture(const readers::RankSource& capture, ThreadPool& pool,
                                         opening::RawUse use);

}  // namespace steplens::cli
