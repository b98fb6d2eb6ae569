#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/compare/compare_sheets.h"
#include "analysis/compare/report/compare_report.h"
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
namespace compare = analysis::compare;
using Page = table::html::Language;

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

void SayMessage(const analysis::Message& message, analysis::Language language) {
  Say(fmt::format("steplens: {}\n", Render(message, language)));
}

void SayChoice(const std::string& path, const store::Job& job, const store::TraceStore* rank,
               analysis::Language language) {
  if (job.ranks.size() < 2) return;
  SayMessage({"compare.note.one_rank",
              {{"path", path},
               {"count", std::to_string(job.ranks.size())},
               {"rank", std::to_string(rank->info.rank)}}},
             language);
}

// What the choice of inputs means for the numbers.
void SayInputs(const CompareRequest& request, const RankPair& ranks) {
  std::error_code error;
  if (request.sheets.compat) return;
  if (fs::equivalent(request.base, request.comparison, error) &&
      request.sheets.base_step == request.sheets.comparison_step)
    SayMessage(analysis::Message{"compare.note.same"}, request.language);
  if (ranks.base->info.rank != ranks.comparison->info.rank) {
    SayMessage({"compare.note.other_rank",
                {{"a", std::to_string(ranks.base->info.rank)},
                 {"b", std::to_string(ranks.comparison->info.rank)}}},
               request.language);
  }
}

Status PrintTables(const compare::SheetResult& result, const CompareRequest& request) {
  std::vector<table::Table> tables;
  if (result.summary) tables.push_back(*result.summary);
  if (!result.regressions.empty()) {
    tables.push_back(
        compare::RegressionTable(result.regressions, result.total_diff_ns, request.language));
  }
  for (const table::Table& table : tables) {
    const table::ConsoleOptions console{.width = TerminalWidth(), .title = true};
    SL_RETURN_IF_ERROR(PrintResult(
        request.sheets.compat
            ? FramedTable(table)
            : table::ToConsole(compare::InLanguage(table, request.language), console) + "\n"));
  }
  return {};
}

Result<int> CompareRanks(const Arguments& arguments, CompareRequest& request) {
  const bool compat = request.sheets.compat;
  SL_ASSIGN_OR_RETURN(const store::Job base, OpenSide(arguments, request.base, compat));
  SL_ASSIGN_OR_RETURN(const store::Job comparison, OpenSide(arguments, request.comparison, compat));
  const RankPair ranks = ChooseRanks(base, comparison);
  SayChoice(request.base, base, ranks.base, request.language);
  SayChoice(request.comparison, comparison, ranks.comparison, request.language);
  SayInputs(request, ranks);
  request.sheets.args = readers::MakeArgsReader();
  SL_ASSIGN_OR_RETURN(const compare::SidePair sides,
                      compare::CollectSides(analysis::RankView(*ranks.base),
                                            analysis::RankView(*ranks.comparison), request.sheets));
  SL_ASSIGN_OR_RETURN(const compare::SheetResult result,
                      compare::CompareSheets(sides, request.sheets));
  const auto make_report = [&] {
    const auto place = [](const store::Job& job, const store::TraceStore* rank) {
      return static_cast<uint32_t>(rank - job.ranks.data());
    };
    const compare::ReportInput input{
        {base, place(base, ranks.base), sides.base},
        {comparison, place(comparison, ranks.comparison), sides.comparison},
        result,
        request.sheets};
    return compare::CompareReport(input, !arguments.Has("--lang") ? Page::kBrowser
                                         : request.language == analysis::Language::kChinese
                                             ? Page::kChinese
                                             : Page::kEnglish);
  };
  std::vector<analysis::Message> notes = result.notes;
  SL_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                      WriteSheets(result.sheets, request, make_report, notes));
  SL_RETURN_IF_ERROR(PrintTables(result, request));
  for (const analysis::Message& note : notes) SayMessage(note, request.language);
  for (const std::string& path : paths)
    SayMessage({"compare.note.written", {{"path", path}}}, request.language);
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

// Usage errors keep their exit code; errors in the data have their own.
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
