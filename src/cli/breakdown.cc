#include "analysis/breakdown/breakdown.h"

#include <algorithm>

#include "cli/commands.h"
#include "cli/open_input.h"

namespace steplens::cli {
namespace {

// The reason for an empty table.
std::string_view EmptyText(const store::Job& job) {
  const bool is_unknown = std::any_of(job.ranks.begin(), job.ranks.end(), [](const auto& rank) {
    return rank.issues.entry(store::IssueKind::kDeviceUnknown).count > 0;
  });
  return is_unknown ? "breakdown: no kernels or copies of a device that steplens knows; 'steplens "
                      "info' lists what was found"
                    : "";
}

Result<int> RunBreakdown(const Arguments& arguments) {
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(arguments));
  analysis::BreakdownOptions options;
  options.compat = arguments.Has("--compat");
  SL_ASSIGN_OR_RETURN(options.selection, SelectionOf(arguments, job));
  SL_RETURN_IF_ERROR(PrintTable(analysis::StepBreakdown(job, options), arguments, EmptyText(job)));
  return 0;
}

}  // namespace

CommandSpec BreakdownCommand() {
  CommandSpec spec;
  spec.summary = "Show how the time of each step is spent";
  spec.description =
      "One row per rank and step, computed from the timeline: computing, communication (overlapped "
      "by computing and not), free, "
      "pipeline bubble and preparing. Columns as in step_trace_time.csv, then the step time, in "
      "microseconds.";
  spec.positionals = {PathPositional(true)};
  spec.options = Joined(
      {{.name = "--rank", .value_name = "R", .help = "Only this rank", .is_integer = true},
       {.name = "--step", .value_name = "S", .help = "Only this step", .is_integer = true},
       {.name = "--compat", .help = "Use the reference tool's definitions (docs/differences.md)"}},
      Joined(TableOptions(), InputOptions()));
  spec.example = "steplens breakdown examples/sample";
  spec.run = RunBreakdown;
  return spec;
}

}  // namespace steplens::cli
