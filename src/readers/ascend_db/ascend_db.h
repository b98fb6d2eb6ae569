#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "readers/read_options.h"
#include "store/trace_store.h"

namespace steplens::readers {

// Reads ascend_pytorch_profiler*.db, ascend_mindspore_profiler*.db or msprof_*.db into `out`
// (appends). The store is the one the text files of the same run give, wherever both carry the
// fact. Tables that are absent are skipped; unreadable tables, missing columns and bad rows are
// counted in out.issues. An error only if no table of a profiler db can be found at all. Nothing is
// written beside the file.
Status ReadProfilerDb(const std::string& path, const ReadOptions& options, store::TraceStore& out);

// The same for analysis.db and communication_analyzer.db: StepTraceTime and CommAnalyzerTime,
// -Bandwidth, -Matrix.
Status ReadAnalysisDb(const std::string& path, const ReadOptions& options, store::TraceStore& out);

// The rank a profiler db says it is of (RANK_DEVICE_MAP); nothing if it does not say.
std::optional<int64_t> RankInDb(const std::string& path);

// True if the file starts with the SQLite magic.
bool LooksLikeSqlite(const std::string& path);

enum class DbKind : uint8_t {
  kProfiler,  // for ReadProfilerDb
  kAnalysis,  // for ReadAnalysisDb
  kNsys,      // an Nsight Systems export, for ReadNsysDb
  kCluster,   // cluster_analysis.db: a result over many ranks
  kOther,
};
// By the names of its tables; reads the schema only.
Result<DbKind> ClassifyDb(const std::string& path);

}  // namespace steplens::readers
