#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/args_reader.h"
#include "analysis/text/message.h"
#include "base/status.h"
#include "store/trace_store.h"
#include "table/table.h"

// The named results behind the viewer's pages. docs/metrics.md defines each of them.

namespace steplens::analysis::viewer {

// What was asked of a metric beyond its name. An argument that is absent has its default; one of
// the wrong type is an error (kInvalidArgument) that names it. Whole numbers given as doubles or
// texts are taken, as they come so from a browser.
struct MetricArgs {
  using Value = std::variant<int64_t, double, std::string>;
  std::map<std::string, Value, std::less<>> values;

  bool Has(std::string_view name) const { return values.find(name) != values.end(); }
  Result<std::optional<int64_t>> Int(std::string_view name) const;
  Result<int64_t> IntOr(std::string_view name, int64_t otherwise) const;
  Result<double> DoubleOr(std::string_view name, double otherwise) const;
  Result<std::string> TextOr(std::string_view name, std::string_view otherwise) const;
  // "0,3-7" as numbers, ascending, each once; at most 65,536 of them. Empty if absent.
  Result<std::vector<int64_t>> IntList(std::string_view name) const;
};

struct MetricAnswer {
  std::vector<table::Table> tables;  // names as in docs/metrics.md; never none
  std::string definition;            // key of the definition: "insight.overall_metrics"
  std::string query;                 // SQL that gives the rows behind it; empty if there is none
  std::vector<Message> warnings;     // what the data lacks for it, one sentence each
};

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
