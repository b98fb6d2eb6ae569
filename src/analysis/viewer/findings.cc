#include <algorithm>

#include "analysis/advice/finding_table.h"
#include "analysis/advice/rule.h"
#include "analysis/cluster/summary/job_findings.h"
#include "analysis/viewer/metrics.h"

// The Findings page: what could be made faster, the largest saving first. The findings are those
// of the cluster's summary, and of the rules about the rank that is looked at.

namespace steplens::analysis::viewer {

Result<MetricAnswer> Findings(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const store::TraceStore* const store, RankOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  SL_ASSIGN_OR_RETURN(cluster::JobFindings summary, cluster::FindInJob(call.job.ranks, {}));
  const RankEvidence rank(call.job, static_cast<uint32_t>(store - call.job.ranks.data()));
  std::vector<Finding> findings = std::move(summary.findings);
  for (Finding& finding : Advise(rank)) findings.push_back(std::move(finding));
  SortBySaving(findings);
  MetricAnswer answer;
  answer.definition = "steplens.findings";
  answer.tables.push_back(FindingTable(findings, rank.step_us(), origin_ns));
  answer.warnings = std::move(summary.warnings);
  if (call.job.ranks.size() < 2) answer.warnings.push_back(Message{"warning.one_rank"});
  return answer;
}

}  // namespace steplens::analysis::viewer
