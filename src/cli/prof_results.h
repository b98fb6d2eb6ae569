#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"

// The results of raw device data of CANN (PROF_*), written into the folder itself as the exporter
// of CANN does it: `steplens analyse` and `steplens msprof`.

namespace steplens::cli {

struct ProfRequest {
  bool has_text = false;      // mindstudio_profiler_output
  bool has_db = false;        // msprof_<time>.db
  bool has_analysis = false;  // analyze
  bool has_analysis_text = true;
  bool has_times = true;   // communication.json
  bool has_matrix = true;  // communication_matrix.json
  bool force = false;      // also where results of an earlier export are
};

// The folder itself, or those in it, by name. None is no error.
std::vector<std::string> FindProfFolders(const std::string& path);
bool IsProfFolder(const std::string& path);

// What was written, as one line for the user. Nothing of the folder changes but the results, which
// appear whole or not at all; those of earlier exports stay.
Result<std::string> WriteProfResults(const std::string& folder, const ProfRequest& request,
                                     ThreadPool& pool);

// What the folder holds: devices, models, iterations.
Result<std::string> DescribeProf(const std::string& folder, ThreadPool& pool);

// Each folder for itself: lines to stdout, failures to stderr. The exit code is that of the first
// failure.
int WriteAllProfResults(const std::vector<std::string>& folders, const ProfRequest& request,
                        size_t jobs);

}  // namespace steplens::cli
