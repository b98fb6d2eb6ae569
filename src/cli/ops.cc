#include <fmt/format.h>

#include <algorithm>

#include "analysis/api/api_statistics.h"
#include "analysis/classify/classify.h"
#include "analysis/operators/kernel_statistics.h"
#include "analysis/operators/operator_tables.h"
#include "cli/commands.h"
#include "cli/open_input.h"

namespace steplens::cli {
namespace {

analysis::Platform PlatformOf(const store::TraceStore& rank) {
  return analysis::DetectPlatform(rank, analysis::ClassifyTracks(rank));
}

bool HasTypes(const store::KernelTable& kernels) {
  return std::any_of(kernels.type.begin(), kernels.type.end(),
                     [](StringId type) { return type != StringId::kEmpty; });
}

// What says most of the input: types where kernels have them, their names elsewhere (a GPU, Level0,
// a timeline without its kernel_details), and the operators of a run without a device.
std::string BestGrouping(const store::Job& job) {
  bool has_device = false;
  for (const store::TraceStore& rank : job.ranks) {
    const analysis::Platform platform = PlatformOf(rank);
    has_device = has_device || platform != analysis::Platform::kHostOnly;
    if (platform == analysis::Platform::kAscend && HasTypes(rank.kernels)) return "type";
  }
  return has_device ? "name" : "operator";
}

table::Table Compute(const store::Job& job, const analysis::Selection& selection,
                     const std::string& by) {
  if (by == "operator") return analysis::HostOpStatistics(job, selection);
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

std::string_view EmptyText(const std::string& by) {
  if (by == "api") return "no API calls in the input";
  if (by == "operator") return "no operators of the host in the input";
  return "no kernels in the input; --by operator shows the operators of the host";
}

Result<int> RunOps(const Arguments& arguments) {
  const int64_t top = arguments.Integer("--top").value_or(0);
  if (top < 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--top: {} is negative, a number of rows was expected", top)};
  }
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(arguments));
  SL_ASSIGN_OR_RETURN(const analysis::Selection selection, SelectionOf(arguments, job));
  const std::string by = arguments.Has("--by") ? arguments.Value("--by") : BestGrouping(job);
  table::Table table = Compute(job, selection, by);
  if (top > 0) table.Truncate(static_cast<size_t>(top));
  SL_RETURN_IF_ERROR(PrintTable(table, arguments, EmptyText(by)));
  return 0;
}

}  // namespace

CommandSpec OpsCommand() {
  CommandSpec spec;
  spec.summary = "Which operators the device time went to";
  spec.description =
      "Statistics of kernels over all ranks, largest total first: by type as in op_statistic.csv, "
      "by name, by input shapes or by core; --by api shows the host's API calls as in "
      "api_statistic.csv, --by operator the host's operators. Without --by: type; name where "
      "kernels have no types (GPU traces, Level0, timelines without kernel_details.csv or "
      "op_summary.csv); operator where no device was recorded.";
  spec.positionals = {PathPositional(true)};
  spec.options = Joined(
      {{.name = "--by",
        .value_name = "WHAT",
        .help = "What to group by",
        .choices = {"name", "type", "shape", "core", "api", "operator"}},
       {.name = "--top", .value_name = "N", .help = "Only the first N rows", .is_integer = true},
       {.name = "--rank", .value_name = "R", .help = "Only this rank", .is_integer = true},
       {.name = "--step", .value_name = "S", .help = "Only this step", .is_integer = true}},
      Joined(TableOptions(), InputOptions()));
  spec.example = "steplens ops examples/sample --by type --top 10";
  spec.run = RunOps;
  return spec;
}

}  // namespace steplens::cli
