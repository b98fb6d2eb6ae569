#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/args_reader.h"
#include "analysis/question/question_answer.h"
#include "analysis/question/question_args.h"
#include "base/status.h"
#include "store/trace_store.h"

// The named results behind the viewer's pages. docs/metrics.md defines each of them.

namespace steplens::analysis::viewer {

using MetricArgs = QuestionArgs;
using MetricAnswer = QuestionAnswer;

struct MetricEntry {
  std::string name;
  std::string description;        // one sentence
  std::vector<std::string> args;  // names it understands
};

// Every metric, by name.
std::vector<MetricEntry> Metrics();

// Times in arguments (t0, t1) and in columns that end in _ns count from the argument `origin_ns`,
// or from OriginNs(job) without it. Pure, for many threads at once. Errors: kNotFound for an
// unknown metric or rank, kInvalidArgument for arguments that make no sense.
Result<MetricAnswer> ComputeMetric(std::string_view name, const MetricArgs& args,
                                   const store::Job& job, const ArgsReader& read_args = {});

// Where the time axis of a job begins: its first slice, kernel, communication or counter sample;
// outliers at time 0 do not count. O(n).
int64_t OriginNs(const store::Job& job);

}  // namespace steplens::analysis::viewer
