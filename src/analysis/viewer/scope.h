#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

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

// A range of time in epoch ns. A slice belongs to it if it touches it, with its full duration: the
// rule of the reference viewer.
struct TimeRange {
  int64_t begin_ns = std::numeric_limits<int64_t>::min();
  int64_t end_ns = std::numeric_limits<int64_t>::max();
  bool Touches(int64_t from_ns, int64_t to_ns) const {
    return to_ns >= begin_ns && from_ns <= end_ns;
  }
  bool Holds(int64_t from_ns, int64_t to_ns) const {
    return from_ns >= begin_ns && to_ns <= end_ns;
  }
  bool is_all() const {
    return begin_ns == std::numeric_limits<int64_t>::min() &&
           end_ns == std::numeric_limits<int64_t>::max();
  }
};

// The rank a metric is about: argument `rank`, else the first. kNotFound without it.
Result<const store::TraceStore*> RankOf(const MetricCall& call);

// What times count from: argument `origin_ns`, else OriginNs(job).
Result<int64_t> OriginOf(const MetricCall& call);

// Arguments t0 and t1, which count from the origin, as epoch times; all time without them.
Result<TimeRange> RangeOf(const MetricCall& call);

// Argument `step`: a number, or nothing for absent, empty and "all".
Result<std::optional<int64_t>> StepOf(const MetricCall& call);

// kCancelled if nobody waits for the result any more. Metrics ask once a rank.
Status StillWanted();

// A text as SQL writes it: 'it''s'.
std::string SqlText(std::string_view text);

// Whether `text` contains `lower_word` (lower case), in any case.
bool ContainsInAnyCase(std::string_view text, std::string_view lower_word);
bool StartsInAnyCase(std::string_view text, std::string_view lower_word);

}  // namespace steplens::analysis::viewer
