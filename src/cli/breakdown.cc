#include "analysis/breakdown/breakdown.h"

#include "cli/commands.h"
#include "cli/open_input.h"

namespace steplens::cli {
namespace {

Result<int> RunBreakdown(const Arguments& arguments) {
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(arguments));
  analysis::BreakdownOptions options;
  options.compat = arguments.Has("--compat");
  SL_ASSIGN_OR_RETURN(options.selection, SelectionOf(arguments, job));
  SL_RETURN_IF_ERROR(PrintTable(analysis::StepBreakdown(job, options), arguments));
  return 0;
}

}  // namespace

CommandSpec BreakdownCommand() {
  CommandSpec spec;
  spec.summary = "Where each step's time went";
  spec.description =
      "One row per rank and step, computed from the timeline: computing, communication (overlapped "
      "by computing and not), free, "
      "pipeline bubble and preparing. Columns as in step_trace_time.csv, in microseconds.";
  spec.positionals = {PathPositional(true)};
  spec.options = Joined(
      {{.name = "--rank", .value_name = "R", .help = "Only this rank", .is_integer = true},
       {.name = "--step", .value_name = "S", .help = "Only this step", .is_integer = true},
       {.name = "--compat", .help = "Count as the reference tool does (docs/differences.md)"}},
      Joined(TableOptions(), InputOptions()));
  spec.example = "steplens breakdown examples/sample";
  spec.run = RunBreakdown;
  return spec;
}

}  // namespace steplens::cli
