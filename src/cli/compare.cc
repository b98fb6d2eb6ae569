#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/compare/compare_sheets.h"
#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cli/compare_console.h"
#include "cli/compare_options.h"
#include "cli/compare_output.h"
#include "cli/open_input.h"
#include "cli/run_comparison.h"
#include "cli/standard_streams.h"
#include "cli/terminal.h"
#include "readers/slice_args.h"
#include "table/console.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kExitUnusable = 1;

// The reference prefers the db of a folder that has text as well.
std::string PathAsReference(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  fs::path folder = fs::path(path) / "ASCEND_PROFILER_OUTPUT";
  if (!fs::is_directory(folder, error)) folder = path;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".db")) continue;
    for (const char* prefix :
         {"ascend_pytorch_profiler", "ascend_mindspore_profiler", "msmonitor"}) {
      if (name.starts_with(prefix) && fs::exists(folder / "trace_view.json", error)) {
        return entry.path();
      }
    }
  }
  return path;
}

Result<store::Job> OpenSide(const Arguments& arguments, const std::string& path, bool compat) {
  Arguments one = arguments;
  one.Set("PATH", {compat ? PathAsReference(path) : path});
  return OpenInput(one);
}

// The ranks that are compared: of the same number if both sides have it.
struct RankPair {
  const store::TraceStore* base = nullptr;
  const store::TraceStore* comparison = nullptr;
};
RankPair ChooseRanks(const store::Job& base, const store::Job& comparison) {
  for (const store::TraceStore& a : base.ranks) {
    for (const store::TraceStore& b : comparison.ranks) {
      if (a.info.rank == b.info.rank) return {&a, &b};
    }
  }
  return {&base.ranks.front(), &comparison.ranks.front()};
}

void SayChoice(const std::string& path, const store::Job& job, const store::TraceStore* rank) {
  if (job.ranks.size() < 2) return;
  Say(fmt::format("steplens: {} has {} ranks; rank {} is compared\n", path, job.ranks.size(),
                  rank->info.rank));
}

Result<int> CompareRanks(const Arguments& arguments, CompareRequest& request) {
  const bool compat = request.sheets.compat;
  SL_ASSIGN_OR_RETURN(const store::Job base, OpenSide(arguments, request.base, compat));
  SL_ASSIGN_OR_RETURN(const store::Job comparison, OpenSide(arguments, request.comparison, compat));
  const RankPair ranks = ChooseRanks(base, comparison);
  SayChoice(request.base, base, ranks.base);
  SayChoice(request.comparison, comparison, ranks.comparison);
  request.sheets.args = readers::MakeArgsReader();
  SL_ASSIGN_OR_RETURN(
      const analysis::compare::SheetResult result,
      analysis::compare::CompareSheets(analysis::RankView(*ranks.base),
                                       analysis::RankView(*ranks.comparison), request.sheets));
  std::vector<std::string> notes = result.notes;
  SL_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                      WriteSheets(result.sheets, request, notes));
  for (const auto* table : {&result.summary, &result.regressions}) {
    if (!table->has_value()) continue;
    const table::ConsoleOptions console{.width = TerminalWidth(), .title = true};
    SL_RETURN_IF_ERROR(
        PrintResult(compat ? FramedTable(**table) : table::ToConsole(**table, console) + "\n"));
  }
  for (const std::string& note : notes) Say(fmt::format("steplens: {}\n", note));
  for (const std::string& path : paths) {
    Say(fmt::format("steplens: the result was written to {}\n", path));
  }
  return 0;
}

// A baseline or a gate: whole runs are compared, and no sheet is made.
Result<int> CompareForGate(const Arguments& arguments, const std::string& base) {
  const Result<int> done =
      CompareWholeRuns(arguments, CleanPath(arguments.Value("--profiling_path")), base,
                       arguments.Value("--baseline-dir"));
  if (done.ok()) return done;
  Say(fmt::format("steplens: {}\n", done.error().message));
  return GateExitCode(done.error());
}

// Usage errors keep their exit code; whatever the data are to blame for has one of its own.
Result<int> RunCompare(const Arguments& arguments) {
  const std::string given = arguments.Value("--benchmark_profiling_path");
  if (AsksForRunComparison(arguments, given))
    return CompareForGate(arguments, IsBaseline(given) ? given : CleanPath(given));
  SL_ASSIGN_OR_RETURN(CompareRequest request, ReadCompareRequest(arguments));
  for (const std::string& note : request.notes) Say(fmt::format("steplens: {}\n", note));
  Result<int> result = 0;
  // Whole jobs are compared over their steps: not if one step is asked for.
  const bool is_one_step = !arguments.Value("--base_step").empty();
  if (!request.sheets.compat && !is_one_step && HaveManyRanks(request.base, request.comparison))
    result = CompareWholeRuns(arguments, request.comparison, request.base, "");
  if (result.ok()) result = CompareRanks(arguments, request);
  if (result.ok() || result.error().code == ErrorCode::kInvalidArgument ||
      result.error().code == ErrorCode::kCancelled || result.error().code == ErrorCode::kInternal) {
    return result;
  }
  Say(fmt::format("steplens: {}\n", result.error().message));
  return kExitUnusable;
}

}  // namespace

CommandSpec CompareCommand() {
  CommandSpec spec;
  spec.summary = "What changed between two runs";
  spec.description =
      "Compares a profile (-d) with a base (-bp): overall metrics, collectives, modules or "
      "operators, memory, calls on the host, kernels; one sheet each. Any input can be compared "
      "with any other, a GPU with an NPU as well. Without an --enable switch all are compared. "
      "Folders of many ranks are compared as whole jobs first. With --fail-on or -bp baseline:NAME "
      "only that is done (docs/compare_gate.md). "
      "Exit codes: 0 done, 1 the data could not be compared, 2 usage, 3 a --fail-on rule is "
      "breached.";
  spec.options =
      Joined(CompareOptions(),
             Joined(RunComparisonOptions(),
                    Joined({{.name = "--baseline-dir",
                             .value_name = "DIR",
                             .help = "Folder of the baselines; default as 'steplens baseline'"}},
                           InputOptions())));
  spec.example = "steplens compare -d examples/sample -bp examples/sample -o /tmp/sample";
  spec.run = RunCompare;
  return spec;
}

}  // namespace steplens::cli
