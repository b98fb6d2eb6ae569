#pragma once

#include "analysis/viewer/metric.h"
#include "analysis/viewer/scope.h"
#include "base/status.h"

// The metrics by their functions; registry.cc gives them their names, docs/metrics.md defines them.

namespace steplens::analysis::viewer {

// Timeline > Stats
Result<MetricAnswer> Overall(const MetricCall& call);
Result<MetricAnswer> OverallDetails(const MetricCall& call);
Result<MetricAnswer> LayerSummary(const MetricCall& call);
Result<MetricAnswer> KernelDetails(const MetricCall& call);
Result<MetricAnswer> KernelTypes(const MetricCall& call);
Result<MetricAnswer> MemcpyOverall(const MetricCall& call);
Result<MetricAnswer> Dispatch(const MetricCall& call);
Result<MetricAnswer> Expert(const MetricCall& call);
Result<MetricAnswer> Flame(const MetricCall& call);

// Operator
Result<MetricAnswer> OperatorGroups(const MetricCall& call);
Result<MetricAnswer> OperatorDetails(const MetricCall& call);
Result<MetricAnswer> KernelPlaces(const MetricCall& call);

// Memory
Result<MetricAnswer> MemoryCurve(const MetricCall& call);
Result<MetricAnswer> MemoryOperators(const MetricCall& call);
Result<MetricAnswer> MemoryGrowth(const MetricCall& call);
Result<MetricAnswer> MemoryComponents(const MetricCall& call);
Result<MetricAnswer> MemoryStatic(const MetricCall& call);

// Communication
Result<MetricAnswer> CommSteps(const MetricCall& call);
Result<MetricAnswer> CommGroups(const MetricCall& call);
Result<MetricAnswer> CommOperators(const MetricCall& call);
Result<MetricAnswer> CommMatrix(const MetricCall& call);
Result<MetricAnswer> CommDurations(const MetricCall& call);
Result<MetricAnswer> CommBandwidth(const MetricCall& call);
Result<MetricAnswer> CommPackets(const MetricCall& call);
Result<MetricAnswer> CommThumbnail(const MetricCall& call);
Result<MetricAnswer> CommAdvice(const MetricCall& call);
Result<MetricAnswer> CommSlowRanks(const MetricCall& call);

// Summary
Result<MetricAnswer> SummaryBase(const MetricCall& call);
Result<MetricAnswer> SummaryRanks(const MetricCall& call);
Result<MetricAnswer> SummaryStrategy(const MetricCall& call);
Result<MetricAnswer> SummaryArrangement(const MetricCall& call);
Result<MetricAnswer> SummaryAdvice(const MetricCall& call);
Result<MetricAnswer> Pipeline(const MetricCall& call);
Result<MetricAnswer> Rl(const MetricCall& call);
Result<MetricAnswer> Experts(const MetricCall& call);

// Findings
Result<MetricAnswer> Findings(const MetricCall& call);

// Overview
Result<MetricAnswer> Overview(const MetricCall& call);

}  // namespace steplens::analysis::viewer
