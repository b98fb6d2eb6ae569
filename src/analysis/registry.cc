#include "analysis/registry.h"

#include "analysis/api/api_statistics.h"
#include "analysis/breakdown/breakdown.h"
#include "analysis/operators/kernel_statistics.h"
#include "analysis/operators/operator_tables.h"

namespace steplens::analysis {
namespace {

std::function<table::Table(const store::Job&)> KernelsBy(KernelGrouping by) {
  return [by](const store::Job& job) {
    return KernelStatistics(job, {.by = by, .selection = {}, .per_rank = true});
  };
}

}  // namespace

std::vector<AnalysisEntry> Analyses() {
  using store::Job;
  return {
      {"breakdown", "Compute, communication and free time of each step, as in step_trace_time.csv.",
       [](const Job& job) { return StepBreakdown(job, {}); }, false},
      {"temporal_breakdown", "Idle, compute and other device time of each rank.",
       [](const Job& job) { return TemporalBreakdown(job); }},
      {"op_stats", "Device kernels by operator type and core, as in op_statistic.csv.",
       KernelsBy(KernelGrouping::kType)},
      {"kernel_stats_by_name", "Device kernels by name.", KernelsBy(KernelGrouping::kName)},
      {"kernel_stats_by_shape", "Device kernels by name and input shapes.",
       KernelsBy(KernelGrouping::kShape)},
      {"kernel_stats_by_core", "Device kernels by the core they ran on.",
       KernelsBy(KernelGrouping::kCore)},
      {"operator_stats", "Host operators by name, with host and device time.",
       [](const Job& job) { return HostOpStatistics(job, {}); }},
      {"operator_tree", "Every host operator with its parent, host and device time.",
       [](const Job& job) { return OperatorTree(job, {}); }},
      {"api_stats", "CANN and GPU runtime calls by name, as in api_statistic.csv.",
       [](const Job& job) { return ApiStatistics(job, {.selection = {}, .per_rank = true}); }},
  };
}

}  // namespace steplens::analysis
