#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/any_case.h"
#include "analysis/collectives/comm_data.h"
#include "analysis/still_wanted.h"
#include "analysis/time_range.h"
#include "analysis/viewer/metric.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis::viewer {

// A metric being computed: what it was asked and what it may look at. Lives for one call.
struct MetricCall {
  const MetricArgs& args;
  const store::Job& job;
  const ArgsReader& read_args;
};

// The rank a metric is about: argument `rank`, else the first. kNotFound without it.
Result<const store::TraceStore*> RankOf(const MetricCall& call);

// What times count from: argument `origin_ns`, else OriginNs(job).
Result<int64_t> OriginOf(const MetricCall& call);

// Arguments t0 and t1, which count from the origin, as epoch times; all time without them.
Result<TimeRange> RangeOf(const MetricCall& call);

// Argument `step`: a number, or nothing for absent, empty and "all".
Result<std::optional<int64_t>> StepOf(const MetricCall& call);

// Arguments step, group and operator.
Result<CommScope> CommScopeOf(const MetricCall& call);

}  // namespace steplens::analysis::viewer
