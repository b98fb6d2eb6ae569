#include "cluster/compare.h"

#include <fmt/format.h>

#include <filesystem>

#include "analysis/cluster/recipes/cluster_time_compare_summary.h"
#include "cluster/database.h"

namespace steplens::cluster {
namespace {

Result<table::Table> ReadSummary(const std::string& run) {
  const std::string path =
      (std::filesystem::path(run) / "cluster_analysis_output" / "cluster_analysis.db").string();
  Result<table::Table> summary = ReadDbTable(path, "ClusterTimeSummary");
  if (summary.ok()) return summary;
  return Error{ErrorCode::kIo,
               fmt::format("{}; run 'steplens cluster -m cluster_time_summary -d {}' first",
                           summary.error().message, run)};
}

}  // namespace

Result<analysis::cluster::Answer> CompareRuns(const std::string& input, const std::string& base,
                                              const analysis::cluster::Options& options) {
  if (base.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "--bp: cluster_time_compare_summary needs the cluster to compare with"};
  }
  SL_ASSIGN_OR_RETURN(const table::Table current, ReadSummary(input));
  SL_ASSIGN_OR_RETURN(const table::Table other, ReadSummary(base));
  return analysis::cluster::CompareTimeSummaries(current, other, options);
}

}  // namespace steplens::cluster
