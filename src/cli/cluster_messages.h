#pragma once

#include <string>
#include <vector>

#include "cli/cluster_options.h"
#include "cluster/output.h"
#include "cluster/run.h"

// What `steplens cluster` says: about ranks and notes on stderr, results on stdout.

namespace steplens::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitNothing = 3;

// The answers that exist; they refer to the run's result.
struct ClusterOutcome {
  std::vector<cluster::Export> exports;
  size_t failures = 0;
  size_t rows = 0;  // and files: whether there is anything to show
};
// And a line on stderr for each recipe that failed, and for each note.
ClusterOutcome CollectAnswers(const ClusterRequest& request, const cluster::RunResult& result);

// What was used and what was not, on stderr.
void PrintCoverage(const cluster::RunResult& result, const std::string& seconds);

void PrintTables(const ClusterOutcome& outcome);
void PrintWritten(const cluster::Written& written);

// The answer to programs: one JSON object.
std::string MachineAnswer(const ClusterOutcome& outcome, const cluster::Written& written,
                          int exit_code, const std::string& error, analysis::Language language);

}  // namespace steplens::cli
