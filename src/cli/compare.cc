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
#include "cli/compare_sides.h"
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

void SayMessage(const analysis::Message& message, analysis::Language language) {
  Say(fmt::format("steplens: {}\n", Render(message, language)));
}

void SayChoice(const std::string& path, const OpenedSide& side, analysis::Language language) {
  if (side.found < 2) return;
  SayMessage({"compare.note.one_rank",
              {{"path", path},
               {"count", std::to_string(side.found)},
               {"rank", std::to_string(side.rank().info.rank)}}},
             language);
}

// What the choice of inputs means for the numbers.
void SayInputs(const CompareRequest& request, const OpenedSides& sides) {
  std::error_code error;
  if (request.sheets.compat) return;
  if (fs::equivalent(request.base, request.comparison, error) &&
      request.sheets.base_step == request.sheets.comparison_step)
    SayMessage(analysis::Message{"compare.note.same"}, request.language);
  const int64_t a = sides.base.rank().info.rank;
  const int64_t b = sides.comparison.rank().info.rank;
  if (a != b) {
    SayMessage({"compare.note.other_rank", {{"a", std::to_string(a)}, {"b", std::to_string(b)}}},
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

// Tables of whole runs as sheets: they have no banners, since a side is one column.
void AddRunSheets(const std::vector<table::Table>& tables,
                  std::vector<compare::ResultSheet>& sheets) {
  for (const table::Table& table : tables) {
    if (table.rows() == 0) continue;
    compare::ResultSheet& sheet = sheets.emplace_back(table.name());
    sheet.table = table;
    sheet.base = sheet.comparison = compare::kNoColumns;
  }
}

Result<int> CompareRanks(const Arguments& arguments, CompareRequest& request,
                         const std::vector<table::Table>& job_tables) {
  SL_ASSIGN_OR_RETURN(const OpenedSides opened, OpenSides(arguments, request));
  const OpenedSide& base = opened.base;
  const OpenedSide& comparison = opened.comparison;
  SayChoice(request.base, base, request.language);
  SayChoice(request.comparison, comparison, request.language);
  SayInputs(request, opened);
  request.sheets.args = readers::MakeArgsReader();
  SL_ASSIGN_OR_RETURN(const compare::SidePair sides,
                      compare::CollectSides(analysis::RankView(base.rank()),
                                            analysis::RankView(comparison.rank()), request.sheets));
  SL_ASSIGN_OR_RETURN(compare::SheetResult result, compare::CompareSheets(sides, request.sheets));
  const auto make_report = [&] {
    const compare::ReportInput input{
        {base.job, static_cast<uint32_t>(base.rank_index), sides.base},
        {comparison.job, static_cast<uint32_t>(comparison.rank_index), sides.comparison},
        result,
        request.sheets,
        {},
        job_tables};
    return compare::CompareReport(input, !arguments.Has("--lang") ? Page::kBrowser
                                         : request.language == analysis::Language::kChinese
                                             ? Page::kChinese
                                             : Page::kEnglish);
  };
  AddRunSheets(job_tables, result.sheets);
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
  std::vector<table::Table> job_tables;
  // Whole jobs are compared over their steps: not if one step is asked for.
  const bool is_one_step = !arguments.Value("--base_step").empty();
  if (!request.sheets.compat && !is_one_step && HaveManyRanks(request.base, request.comparison))
    result = CompareWholeRuns(arguments, request.comparison, request.base, "", &job_tables);
  if (result.ok()) result = CompareRanks(arguments, request, job_tables);
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
