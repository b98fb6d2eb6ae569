#include <fmt/format.h>

#include <algorithm>

#include "analysis/operators/op_list.h"
#include "base/kernel_label.h"
#include "base/number.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/standard_streams.h"

namespace steplens::cli {
namespace {

// Nothing disappears from the list, and so from Ratio(%), without a word.
void SayWhatIsLeftOut(const store::Job& job, const analysis::KernelStatisticsOptions& options) {
  const analysis::DurationStats left_out = analysis::LeftOutCommunication(job, options);
  if (left_out.count == 0) return;
  const bool by_default = options.communication == analysis::CommunicationRows::kDefault;
  Say(fmt::format(
      "steplens: {} communication operation{} ({} us) not listed and not in Ratio(%){}\n",
      left_out.count, left_out.count == 1 ? "" : "s", FormatNsAsUs(left_out.total_ns),
      by_default ? ", as in op_statistic.csv; --communication include lists them" : ""));
}

// The table as people read it: short names of kernels. Files and pipes of csv and json have the
// full ones.
table::Table WithShortNames(const table::Table& table) {
  table::Table out(table.name());
  for (table::Column column : table.columns()) {
    if (column.name == "Name" || column.name == "OP Type")
      std::transform(column.texts.begin(), column.texts.end(), column.texts.begin(), KernelLabel);
    out.AddColumn(std::move(column));
  }
  return out;
}

bool IsForPeople(const Arguments& arguments) {
  const std::string format = arguments.Value("--format");
  return !arguments.Has("--json") && !arguments.Has("--csv") && format != "json" && format != "csv";
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
  const std::string by =
      arguments.Has("--by") ? arguments.Value("--by") : analysis::BestOpGrouping(job);
  const std::string communication = arguments.Value("--communication");
  SL_ASSIGN_OR_RETURN(table::Table table, analysis::ListOps(job, selection, by, communication));
  if (top > 0) table.Truncate(static_cast<size_t>(top));
  if (analysis::GroupsKernels(by) && IsForPeople(arguments)) table = WithShortNames(table);
  SL_RETURN_IF_ERROR(PrintTable(table, arguments, EmptyText(by)));
  if (analysis::GroupsKernels(by))
    SayWhatIsLeftOut(job, analysis::OpListOptions(selection, by, communication));
  return 0;
}

}  // namespace

CommandSpec OpsCommand() {
  CommandSpec spec;
  spec.summary = "List the operators that take the most device time";
  spec.description =
      "Statistics of kernels over all ranks, largest total first: by type as in op_statistic.csv, "
      "by name, by input shapes or by core; --by api shows the host's API calls as in "
      "api_statistic.csv, --by operator the host's operators. Without --by: type; name where "
      "kernels have no types (GPU traces, Level0, timelines without kernel_details.csv or "
      "op_summary.csv); operator where no device was recorded. On a GPU, NCCL and RCCL kernels are "
      "listed. On Ascend, collectives are neither listed nor counted in Ratio(%), as in "
      "op_statistic.csv; stderr reports their number and time. --communication overrides both.";
  spec.positionals = {PathPositional(true)};
  spec.options = Joined(
      {{.name = "--by",
        .value_name = "WHAT",
        .help = "Grouping key",
        .choices = {"name", "type", "shape", "core", "api", "operator"}},
       {.name = "--communication",
        .value_name = "WHICH",
        .help = "Include or exclude communication, or list only communication. Default: include on "
                "a GPU, exclude on Ascend",
        .choices = {"include", "exclude", "only"}},
       {.name = "--top", .value_name = "N", .help = "Only the first N rows", .is_integer = true},
       {.name = "--rank", .value_name = "R", .help = "Only this rank", .is_integer = true},
       {.name = "--step", .value_name = "S", .help = "Only this step", .is_integer = true}},
      Joined(TableOptions(), InputOptions()));
  spec.example = "steplens ops examples/sample --by type --top 10";
  spec.run = RunOps;
  return spec;
}

}  // namespace steplens::cli
