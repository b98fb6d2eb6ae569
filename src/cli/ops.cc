#include <fmt/format.h>

#include "analysis/api/api_statistics.h"
#include "analysis/operators/kernel_statistics.h"
#include "cli/commands.h"
#include "cli/open_input.h"

namespace steplens::cli {
namespace {

table::Table Compute(const store::Job& job, const analysis::Selection& selection,
                     const Arguments& arguments) {
  const std::string by = arguments.Value("--by");
  if (by == "api") {
    analysis::ApiStatisticsOptions options;
    options.selection = selection;
    return analysis::ApiStatistics(job, options);
  }
  analysis::KernelStatisticsOptions options;
  options.selection = selection;
  if (by == "name") options.by = analysis::KernelGrouping::kName;
  if (by == "shape") options.by = analysis::KernelGrouping::kShape;
  if (by == "core") options.by = analysis::KernelGrouping::kCore;
  return analysis::KernelStatistics(job, options);
}

Result<int> Run(const Arguments& arguments) {
  const int64_t top = arguments.Integer("--top").value_or(0);
  if (top < 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--top: {} is negative, a number of rows was expected", top)};
  }
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(arguments));
  SL_ASSIGN_OR_RETURN(const analysis::Selection selection, SelectionOf(arguments, job));
  table::Table table = Compute(job, selection, arguments);
  if (top > 0) table.Truncate(static_cast<size_t>(top));
  SL_RETURN_IF_ERROR(PrintTable(table, arguments));
  return 0;
}

}  // namespace

CommandSpec OpsCommand() {
  CommandSpec spec;
  spec.name = "ops";
  spec.summary = "Which operators the device time went to";
  spec.description =
      "Statistics of kernels over all ranks, largest total first: by type as in op_statistic.csv, "
      "by name, by input shapes or by core; "
      "--by api shows the host's API calls as in api_statistic.csv.";
  spec.positionals = {PathPositional(true)};
  spec.options = Joined(
      {{.name = "--by",
        .value_name = "WHAT",
        .help = "What to group by",
        .default_value = "type",
        .choices = {"name", "type", "shape", "core", "api"}},
       {.name = "--top", .value_name = "N", .help = "Only the first N rows", .is_integer = true},
       {.name = "--rank", .value_name = "R", .help = "Only this rank", .is_integer = true},
       {.name = "--step", .value_name = "S", .help = "Only this step", .is_integer = true}},
      Joined(TableOptions(), InputOptions()));
  spec.example = "steplens ops examples/sample --by type --top 10";
  spec.run = Run;
  return spec;
}

}  // namespace steplens::cli
