#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>

#include "analysis/cluster/recipes/cluster_time_compare_summary.h"
#include "analysis/cluster/registry.h"
#include "base/json_writer.h"
#include "base/team.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cluster/compare.h"
#include "cluster/in_place.h"
#include "cluster/output.h"
#include "cluster/ranks.h"
#include "cluster/report.h"
#include "cluster/run.h"
#include "cluster/summary_text.h"
#include "table/console.h"

namespace steplens::cli {
namespace {

namespace recipes = analysis::cluster;
using cluster::Export;
using cluster::ExportType;
using cluster::RunResult;
using cluster::Written;

constexpr int kExitDone = 0;
constexpr int kExitFailed = 1;
constexpr int kExitNothing = 3;

// Options that belong to single recipes, passed on by name.
constexpr std::string_view kRecipeOptions[] = {"top_num",
                                               "exclude_op_name",
                                               "bp",
                                               "rank_id",
                                               "parallel_types",
                                               "baseline_profiling_path",
                                               "fuzzy_threshold",
                                               "dump_intermediate_results",
                                               "full_matrix",
                                               "strict_reference"};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// "all,hccl_sum" -> the recipes behind it, each once, in the order named.
Result<std::vector<recipes::RecipeSpec>> RecipesOf(const std::string& modes, bool compat) {
  std::vector<recipes::RecipeSpec> out;
  for (const std::string& mode : Split(modes, ',')) {
    const std::vector<std::string_view> names = recipes::RecipesOfMode(mode, compat);
    if (names.empty()) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("--mode: '{}' is not a mode; choose from {}", mode,
                               fmt::join(recipes::ModeNames(), ", "))};
    }
    for (const std::string_view name : names) {
      const bool is_there = std::any_of(out.begin(), out.end(),
                                        [&](const auto& recipe) { return recipe.name == name; });
      if (!is_there) out.push_back(*recipes::FindRecipe(name));
    }
  }
  if (out.empty()) return Error{ErrorCode::kInvalidArgument, "--mode: a mode was expected"};
  return out;
}

struct Request {
  cluster::RunOptions run;
  ExportType type = ExportType::kDb;
  bool is_type_given = false;
  std::string output;
};

Result<ExportType> ExportTypeOf(const std::string& name) {
  if (name == "text") return ExportType::kText;
  if (name == "notebook") return ExportType::kNotebook;
  if (name == "csv") return ExportType::kCsv;
  if (name == "json") return ExportType::kJson;
  if (name == "xlsx") return ExportType::kXlsx;
  return ExportType::kDb;
}

std::string CleanPath(std::string path) {
  if (path.starts_with('=')) path.erase(0, 1);
  const char* home = std::getenv("HOME");  // NOLINT: no other thread yet
  if (home != nullptr && (path == "~" || path.starts_with("~/"))) path = home + path.substr(1);
  return path;
}

Result<Request> ParseRequest(const Arguments& arguments) {
  Request request;
  request.run.input = CleanPath(arguments.Value("--profiling_path"));
  request.output = CleanPath(arguments.Value("--output_path"));
  if (request.output.empty()) {
    const bool is_file = std::filesystem::is_regular_file(request.run.input);
    request.output = is_file ? std::filesystem::path(request.run.input).parent_path().string()
                             : request.run.input;
    if (request.output.empty()) request.output = ".";
  }
  SL_ASSIGN_OR_RETURN(request.run.recipes,
                      RecipesOf(arguments.Value("--mode"), arguments.Has("--compat")));
  SL_ASSIGN_OR_RETURN(request.run.ranks, cluster::ParseRankList(arguments.Value("--rank_list")));
  request.run.options.compat = arguments.Has("--compat");
  const int64_t step = arguments.Integer("--step_id").value_or(-1);
  if (step >= 0) request.run.options.step = step;
  for (const std::string_view name : kRecipeOptions) {
    const std::string option = fmt::format("--{}", name);
    if (!arguments.Has(option)) continue;
    const std::string value = arguments.Value(option);
    request.run.options.values[std::string(name)] = value.empty() ? "1" : value;
  }
  if (arguments.Value("--parallel_mode") != "concurrent") {
    return Error{ErrorCode::kInvalidArgument, "--parallel_mode: only 'concurrent' exists"};
  }
  request.is_type_given = arguments.Has("--export_type");
  SL_ASSIGN_OR_RETURN(request.type, ExportTypeOf(arguments.Value("--export_type")));
  request.run.tables_too = request.is_type_given && !request.run.options.compat;
  request.run.use_cache = !arguments.Has("--no-cache");
  request.run.show_progress = true;
  return request;
}

std::string Seconds(std::chrono::steady_clock::time_point since) {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - since;
  return fmt::format("{:.2f} s", spent.count());
}

std::string FormatsOf(const RunResult& result) {
  std::set<std::string> formats;
  for (const recipes::RankFacts& rank : result.ranks)
    formats.insert(rank.source + " " + rank.format);
  return fmt::format("{}", fmt::join(formats, ", "));
}

// Records of the input that could not be used, said once.
void PrintLosses(const RunResult& result) {
  size_t ranks = 0;
  const recipes::RankFacts* first = nullptr;
  for (const recipes::RankFacts& rank : result.ranks) {
    if (rank.lost_records == 0) continue;
    if (ranks++ == 0) first = &rank;
  }
  if (first == nullptr) return;
  fmt::print(stderr,
             "steplens: {} rank{} records that could not be used (rank {}: {}); 'steplens info' "
             "lists them\n",
             ranks, ranks == 1 ? " has" : "s have", first->rank, first->first_loss);
}

// What was used and what was not, on stderr.
void PrintCoverage(const RunResult& result, const std::string& seconds) {
  std::set<int64_t> steps;
  std::set<std::string> groups;
  for (const recipes::RankFacts& rank : result.ranks) {
    steps.insert(rank.steps.begin(), rank.steps.end());
    for (const recipes::GroupFact& group : rank.groups) groups.insert(group.id);
  }
  fmt::print(stderr, "ranks: {} found, {} used{}, {} failed; steps: {}; groups: {}; data: {}; {}\n",
             result.found, result.ranks.size(),
             result.reused > 0 ? fmt::format(" ({} unchanged, not read again)", result.reused) : "",
             result.failed.size(), steps.empty() ? "none" : std::to_string(steps.size()),
             groups.size(), FormatsOf(result), seconds);
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < std::min(result.failed.size(), kShown); ++i) {
    fmt::print(stderr, "steplens: rank {} is left out: {}\n", result.failed[i].rank,
               result.failed[i].reason);
  }
  if (result.failed.size() > kShown) {
    fmt::print(stderr, "steplens: and {} more ranks are left out\n", result.failed.size() - kShown);
  }
  PrintLosses(result);
  for (const std::string& note : result.notes) fmt::print(stderr, "steplens: {}\n", note);
}

// The answers that exist, and a line for each recipe that failed.
struct Outcome {
  std::vector<Export> exports;
  size_t failures = 0;
  size_t rows = 0;  // and files: whether there is anything to show
};
Outcome CollectAnswers(const Request& request, const RunResult& result) {
  Outcome outcome;
  for (size_t i = 0; i < result.answers.size(); ++i) {
    const recipes::RecipeSpec& recipe = request.run.recipes[i];
    if (!result.answers[i].ok()) {
      fmt::print(stderr, "steplens: {}: {}\n", recipe.name, result.answers[i].error().message);
      ++outcome.failures;
      continue;
    }
    const recipes::Answer& answer = *result.answers[i];
    for (const std::string& note : answer.notes)
      fmt::print(stderr, "steplens: {}: {}\n", recipe.name, note);
    for (const recipes::ResultTable& table : answer.tables) outcome.rows += table.table.rows();
    outcome.rows += answer.files.size() + (answer.had_input ? 1 : 0);
    outcome.exports.push_back({recipe.name, recipe.folder, &answer});
  }
  return outcome;
}

std::string MachineAnswer(const Outcome& outcome, const Written& written, int exit_code,
                          const std::string& error, bool chinese) {
  JsonWriter json;
  json.BeginObject().Key("status").String(exit_code == kExitDone ? "success" : "error");
  json.Key("code").Int(exit_code).Key("message").BeginObject();
  if (!error.empty()) json.Key("err").String(error);
  if (!written.database.empty()) {
    json.Key("db_path").String(written.database).Key("tables").BeginArray();
    for (const std::string& table : written.tables) json.String(table);
    json.EndArray();
  }
  if (!written.files.empty()) {
    json.Key("csv_path").BeginArray();
    for (const std::string& file : written.files) json.String(file);
    json.EndArray();
  }
  json.EndObject();
  std::string suggestion;
  for (const Export& one : outcome.exports) {
    const std::string& text = chinese ? one.answer->suggestion_zh : one.answer->suggestion_en;
    if (!text.empty()) suggestion += (suggestion.empty() ? "" : "\n") + text;
  }
  json.Key("suggestion").String(suggestion).Key("log_path").String("").EndObject();
  return json.Take();
}

void PrintTables(const Outcome& outcome) {
  for (const Export& one : outcome.exports) {
    for (const recipes::ResultTable& result : one.answer->tables) {
      const std::string text = table::ToConsole(cluster::CsvForm(result), {.title = true});
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fputc('\n', stdout);
    }
  }
}

void PrintWritten(const Written& written) {
  if (!written.database.empty()) {
    fmt::print("{}: {}\n", written.database, fmt::join(written.tables, ", "));
  }
  for (const std::string& file : written.files) fmt::print("{}\n", file);
}

// What recipes put into the captures, or into copies of them.
Status EditCaptures(const Arguments& arguments, const Request& request, const RunResult& result,
                    Outcome& outcome, Written& written) {
  cluster::EditOptions options;
  options.input = request.run.input;
  options.directory = written.directory;
  options.in_place = arguments.Has("--in_place");
  options.compat = request.run.options.compat;
  SL_ASSIGN_OR_RETURN(cluster::Edited edited,
                      cluster::ApplyEdits(outcome.exports, result.ranks, options));
  for (const std::string& note : edited.notes) fmt::print(stderr, "steplens: {}\n", note);
  outcome.rows += edited.files.size();
  written.files.insert(written.files.end(), edited.files.begin(), edited.files.end());
  return {};
}

// The page people look at: beside the results of `all`, and beside each recipe's csv files where a
// notebook was asked for.
Status WriteReports(const Arguments& arguments, const Request& request, const Outcome& outcome,
                    Written& written) {
  if (request.run.options.compat) return {};
  const auto language = arguments.Value("--lang") == "zh" ? cluster::ReportLanguage::kChinese
                                                          : cluster::ReportLanguage::kEnglish;
  const auto write = [&](std::span<const Export> exports, const std::string& path) {
    written.files.push_back(path);
    return cluster::WriteResultText(path,
                                    cluster::MakeReport(exports, request.run.input, language));
  };
  if (cluster::FindTable(outcome.exports, "ClusterFindings") != nullptr)
    return write(outcome.exports, written.directory + "/cluster_report.html");
  if (request.type != ExportType::kNotebook) return {};
  for (const Export& one : outcome.exports) {
    const std::string folder = written.directory + "/" + one.folder;
    if (std::filesystem::is_directory(folder))
      SL_RETURN_IF_ERROR(write({&one, 1}, folder + "/report.html"));
  }
  return {};
}

// The whole command on the root; `written` and `outcome` also serve the machine's answer.
Result<int> RunOnRoot(const Arguments& arguments, const Request& request, const RunResult& result,
                      const std::string& seconds, Outcome& outcome, Written& written) {
  if (result.found > 0) PrintCoverage(result, seconds);
  outcome = CollectAnswers(request, result);
  if (arguments.Value("--export_type") == "console") {
    PrintTables(outcome);
  } else {
    // Where an answer on text data has files users know, its tables come only if they are asked
    // for.
    SL_ASSIGN_OR_RETURN(written,
                        cluster::WriteAnswers(outcome.exports, request.type, request.output,
                                              request.run.options.compat, request.run.tables_too));
    SL_RETURN_IF_ERROR(EditCaptures(arguments, request, result, outcome, written));
    SL_RETURN_IF_ERROR(WriteReports(arguments, request, outcome, written));
    if (!arguments.Has("--agent")) PrintWritten(written);
  }
  if (!arguments.Has("--agent") && !request.run.options.compat) {
    const std::string summary =
        cluster::SummaryText(outcome.exports, arguments.Value("--lang") == "zh");
    if (!summary.empty()) fmt::print("\n{}", summary);
  }
  if (outcome.exports.empty()) return kExitFailed;
  if (outcome.rows == 0) {
    fmt::print(stderr, "steplens: the captures hold nothing that these modes look at\n");
    return kExitNothing;
  }
  return outcome.failures > 0 ? kExitFailed : kExitDone;
}

int ExitOf(const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) return 2;
  if (error.code == ErrorCode::kNotFound) return kExitNothing;
  return error.code == ErrorCode::kCancelled ? 130 : kExitFailed;
}

// One mode compares results of earlier runs and reads no rank; all others look at the ranks.
Result<RunResult> RunModes(Team& team, ThreadPool& pool, const Request& request) {
  const cluster::RunOptions& run = request.run;
  if (run.recipes.size() != 1 || run.recipes.front().name != recipes::kTimeCompareName)
    return cluster::RunRecipes(team, pool, run);
  RunResult result;
  if (!team.is_root()) return result;
  SL_ASSIGN_OR_RETURN(
      recipes::Answer answer,
      cluster::CompareRuns(run.input, CleanPath(run.options.Value("bp")), run.options));
  result.answers.emplace_back(std::move(answer));
  return result;
}

// What a run leaves behind for the answer to programs.
struct Session {
  RunResult result;  // outcome refers to it
  Outcome outcome;
  Written written;
  bool is_root = true;  // the one process that speaks
};

Result<int> RunAsked(const Arguments& arguments, Session& session) {
  const auto start = std::chrono::steady_clock::now();
  SL_ASSIGN_OR_RETURN(const Request request, ParseRequest(arguments));
  if (!arguments.Unknown().empty()) {
    fmt::print(stderr, "steplens: Invalid parameters: {}. It will not have any effect.\n",
               fmt::join(arguments.Unknown(), " "));
  }
  SL_ASSIGN_OR_RETURN(const size_t threads, ThreadsOf(arguments));
  ThreadPool pool(threads);
  SL_ASSIGN_OR_RETURN(const std::unique_ptr<Team> team, MakeTeam(pool));
  session.is_root = team->is_root();
  SL_ASSIGN_OR_RETURN(session.result, RunModes(*team, pool, request));
  if (!session.is_root) return kExitDone;
  return RunOnRoot(arguments, request, session.result, Seconds(start), session.outcome,
                   session.written);
}

Result<int> Run(const Arguments& arguments) {
  Session session;
  const Result<int> done = RunAsked(arguments, session);
  const int exit_code = done.ok() ? *done : ExitOf(done.error());
  if (!session.is_root) return exit_code;
  const std::string error = done.ok() ? "" : done.error().message;
  if (!error.empty()) fmt::print(stderr, "steplens: {}\n", error);
  if (arguments.Has("--agent")) {
    const bool chinese = arguments.Value("--lang") == "zh";
    fmt::print("{}\n", MachineAnswer(session.outcome, session.written, exit_code, error, chinese));
  }
  return exit_code;
}

std::vector<OptionSpec> ClusterOptions() {
  return {
      {.name = "--profiling_path",
       .value_name = "DIR",
       .help = "The folder with the ranks' captures",
       .is_required = true,
       .short_name = "-d"},
      {.name = "--mode",
       .value_name = "MODE[,MODE...]",
       .help = "What to find out; several at once are answered in one pass",
       .default_value = "all",
       .short_name = "-m"},
      {.name = "--output_path",
       .value_name = "DIR",
       .help = "Where cluster_analysis_output is written; the captures' folder if not given",
       .short_name = "-o"},
      {.name = "--export_type",
       .value_name = "TYPE",
       .help = "Form of the results; text captures give text deliverables unless a type is named",
       .default_value = "db",
       .choices = {"db", "text", "notebook", "csv", "json", "xlsx", "console"}},
      {.name = "--rank_list",
       .value_name = "RANKS",
       .help = "Only these ranks: 0-7,16,32-63",
       .default_value = "all"},
      {.name = "--step_id",
       .value_name = "N",
       .help = "Only this step; -1 means all",
       .default_value = "-1",
       .is_integer = true},
      {.name = "--compat", .help = "The reference tool's numbers, its errors included"},
      {.name = "--agent", .help = "One JSON object on stdout, for programs"},
      {.name = "--lang",
       .value_name = "LANG",
       .help = "Language of summary, report and suggestions",
       .default_value = "en",
       .choices = {"en", "zh"}},
      {.name = "--top_num",
       .value_name = "N",
       .help =
           "Rows to keep: hccl_sum, slow_link (15), free_analysis, communication_bottleneck (10)"},
      {.name = "--exclude_op_name", .help = "compute_op_sum: no table by operator name"},
      {.name = "--bp",
       .value_name = "DIR",
       .help = "cluster_time_compare_summary: the cluster to compare with"},
      {.name = "--rank_id",
       .value_name = "RANK",
       .help = "communication_bottleneck: the rank whose operators are looked at (the first)"},
      {.name = "--parallel_types",
       .value_name = "TYPES",
       .help = "computational_op_masking: sets of groups, e.g. 'edp;dp,edp'"},
      {.name = "--baseline_profiling_path",
       .value_name = "FILE",
       .help = "calibrate_npu_gpu: the Nsight Systems export (.sqlite)"},
      {.name = "--fuzzy_threshold",
       .value_name = "X",
       .help = "calibrate_npu_gpu: similarity from which module names match (0.8)"},
      {.name = "--dump_intermediate_results",
       .help = "calibrate_npu_gpu: write the tables of both sides, too"},
      {.name = "--full_matrix", .help = "Every link of groups with more than 64 ranks"},
      {.name = "--strict_reference", .help = "Leave out links whose ends are not known"},
      {.name = "--in_place",
       .help = "p2p_pairing, pp_chart, mstx2commop, export_summary: write into the captures"},
      {.name = "--parallel_mode",
       .value_name = "NAME",
       .help = "Accepted for old scripts",
       .default_value = "concurrent"},
      {.name = "--force",
       .help = "Accepted for old scripts: nothing is refused for its owner or size"},
      {.name = "--data_simplification", .help = "Accepted for old scripts; no effect"},
      {.name = "--threads",
       .value_name = "N",
       .help = "Threads to use; 0 means one per core",
       .default_value = "0",
       .is_integer = true},
      {.name = "--no-cache", .help = "Read every rank again, and leave no cache file"}};
}

}  // namespace

CommandSpec ClusterCommand() {
  CommandSpec spec;
  spec.name = "cluster";
  spec.summary = "Which rank, link or group of a job is slow, and other questions about all ranks";
  spec.description = fmt::format(
      "Reads every rank below DIR once and answers one or several modes; results go to "
      "<output_path>/cluster_analysis_output. This is the command that is meant when none is "
      "named: "
      "'steplens -d DIR'. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing to analyse.\n\n"
      "Modes: {}",
      fmt::join(recipes::ModeNames(), ", "));
  spec.options = ClusterOptions();
  spec.example = "steplens cluster -m all -d examples/sample -o /tmp/result";
  spec.takes_unknown = true;
  spec.run = Run;
  return spec;
}

}  // namespace steplens::cli
