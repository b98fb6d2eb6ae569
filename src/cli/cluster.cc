#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>

#include "analysis/cluster/recipes/cluster_time_compare_summary.h"
#include "analysis/cluster/registry.h"
#include "base/cancel.h"
#include "base/team.h"
#include "base/thread_pool.h"
#include "cli/cluster_messages.h"
#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cluster/compare.h"
#include "cluster/in_place.h"
#include "cluster/report.h"
#include "cluster/shared_write.h"
#include "cluster/summary_text.h"

namespace steplens::cli {
namespace {

namespace recipes = analysis::cluster;
using cluster::Export;
using cluster::ExportType;
using cluster::RunResult;
using cluster::Written;

std::string Seconds(std::chrono::steady_clock::time_point since) {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - since;
  return fmt::format("{:.2f} s", spent.count());
}

analysis::Language LanguageOf(const Arguments& arguments) {
  return arguments.Value("--lang") == "zh" ? analysis::Language::kChinese
                                           : analysis::Language::kEnglish;
}

// What recipes put into the captures, or into copies of them.
void EditCaptures(const Arguments& arguments, const ClusterRequest& request,
                  const RunResult& result, ClusterOutcome& outcome, Written& written) {
  cluster::EditOptions options;
  options.input = request.run.input;
  options.directory = written.directory;
  options.in_place = arguments.Has("--in_place");
  options.compat = request.run.options.compat;
  const cluster::Edited edited = cluster::ApplyEdits(outcome.exports, result.ranks, options);
  for (const std::string& note : edited.notes) fmt::print(stderr, "steplens: {}\n", note);
  outcome.rows += edited.files.size();
  outcome.failures += edited.failed > 0 ? 1 : 0;
  written.files.insert(written.files.end(), edited.files.begin(), edited.files.end());
}

// The page people look at.
std::string MakeClusterReport(const Arguments& arguments, const ClusterRequest& request,
                              std::span<const Export> exports) {
  return cluster::MakeReport(exports, request.run.input,
                             arguments.Value("--lang") == "zh" ? cluster::ReportLanguage::kChinese
                                                               : cluster::ReportLanguage::kEnglish);
}

bool HasFindings(const ClusterRequest& request, const ClusterOutcome& outcome) {
  return !request.run.options.compat &&
         cluster::FindTable(outcome.exports, "ClusterFindings") != nullptr;
}

// A page next to each recipe's csv files, if a notebook was requested.
Status WriteRecipeReports(const Arguments& arguments, const ClusterRequest& request,
                          const ClusterOutcome& outcome, Written& written) {
  if (request.run.options.compat || request.type != ExportType::kNotebook) return {};
  for (const Export& one : outcome.exports) {
    const std::string folder = written.directory + "/" + one.folder;
    if (!std::filesystem::is_directory(folder)) continue;
    written.files.push_back(folder + "/report.html");
    SL_RETURN_IF_ERROR(cluster::WriteResultText(written.files.back(),
                                                MakeClusterReport(arguments, request, {&one, 1})));
  }
  return {};
}

Status WriteClusterResults(const Arguments& arguments, const ClusterRequest& request,
                           RunResult& result, const cluster::ResultFiles& files,
                           ClusterOutcome& outcome, Written& written) {
  const bool has_report = HasFindings(request, outcome);
  std::string report;
  std::optional<Result<Written>> tables;
  // At once: the tables are written, the report is made, and the texts of files are given back.
  ThreadPool writers(files.threads());
  writers.ParallelFor(3, [&](size_t i) {
    if (i == 1 && has_report) report = MakeClusterReport(arguments, request, outcome.exports);
    if (i == 2) result.texts = {};
    if (i > 0) return;
    // Where an answer on text data has files users know, its tables come only if they are asked
    // for.
    tables.emplace(cluster::WriteAnswers(outcome.exports, request.type, files,
                                         request.run.options.compat, request.run.tables_too));
  });
  SL_ASSIGN_OR_RETURN(written, *std::move(tables));
  EditCaptures(arguments, request, result, outcome, written);
  if (has_report) {
    written.files.push_back(written.directory + "/cluster_report.html");
    SL_RETURN_IF_ERROR(cluster::WriteResultText(written.files.back(), report));
  } else {
    SL_RETURN_IF_ERROR(WriteRecipeReports(arguments, request, outcome, written));
  }
  if (!arguments.Has("--agent")) PrintWritten(written);
  return {};
}

// The whole command on the root; `written` and `outcome` also serve the machine's answer.
Result<int> RunOnRoot(const Arguments& arguments, const ClusterRequest& request, RunResult& result,
                      const std::string& seconds, const cluster::ResultFiles& files,
                      ClusterOutcome& outcome, Written& written) {
  if (result.found > 0) PrintCoverage(result, seconds);
  outcome = CollectAnswers(request, result);
  Status done;
  if (arguments.Value("--export_type") == "console") {
    PrintTables(outcome);
  } else {
    done = WriteClusterResults(arguments, request, result, files, outcome, written);
  }
  // What was found out is worth knowing even if it could not be written.
  if (!arguments.Has("--agent") && !request.run.options.compat) {
    const std::string summary = cluster::SummaryText(outcome.exports, LanguageOf(arguments));
    if (!summary.empty()) fmt::print("{}{}", done.ok() ? "\n" : "", summary);
  }
  SL_RETURN_IF_ERROR(done);
  if (outcome.exports.empty()) return kExitFailed;
  if (outcome.failures > 0) return kExitFailed;
  if (outcome.rows == 0)
    return Error{ErrorCode::kNotFound, "the captures hold nothing that these modes look at"};
  return kExitDone;
}

int ExitOf(const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) return 2;
  if (error.code == ErrorCode::kNotFound) return kExitNothing;
  return error.code == ErrorCode::kCancelled ? 130 : kExitFailed;
}

// One mode compares results of earlier runs and reads no rank; all others look at the ranks.
Result<RunResult> RunModes(Team& team, ThreadPool& pool, const ClusterRequest& request) {
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
  ClusterOutcome outcome;
  Written written;
  const bool is_root = IsRootOfTeam();  // the one process that speaks
};

Result<int> RunAsked(const Arguments& arguments, Session& session) {
  const auto start = std::chrono::steady_clock::now();
  SL_ASSIGN_OR_RETURN(ClusterRequest request, ParseClusterRequest(arguments));
  if (!request.unknown.empty() && session.is_root) {
    fmt::print(stderr, "steplens: Invalid parameters: {}. It will not have any effect.\n",
               fmt::join(request.unknown, " "));
  }
  SL_ASSIGN_OR_RETURN(const size_t threads, ThreadsOf(arguments));
  ThreadPool pool(threads);
  SL_ASSIGN_OR_RETURN(const std::unique_ptr<Team> team, MakeTeam(pool));
  cluster::ResultFiles files(request.output, *team, pool);
  if (arguments.Value("--export_type") != "console") {
    request.run.on_files = [&files](const auto& of_answers, cluster::RankTexts& texts) {
      files.Write(of_answers, texts);
    };
  }
  SL_ASSIGN_OR_RETURN(session.result, RunModes(*team, pool, request));
  if (!session.is_root) {
    SL_RETURN_IF_ERROR(cluster::ServeWrites(*team, session.result.texts));
    return kExitDone;
  }
  for (const std::string& note : request.notes) fmt::print(stderr, "steplens: {}\n", note);
  if (request.kind == ClusterRequest::Kind::kMap) {
    PrintCoverage(session.result, Seconds(start));
    session.written.files.push_back(request.run.map_to);
    if (!arguments.Has("--agent")) PrintWritten(session.written);
    return kExitDone;
  }
  return RunOnRoot(arguments, request, session.result, Seconds(start), files, session.outcome,
                   session.written);
}

Result<int> RunCluster(const Arguments& arguments) {
  // How mpirun ends the others when one has died: what was begun is cleaned up.
  std::signal(SIGTERM, [](int) { RequestCancel(); });
  // Not freed at the end: to give back millions of pieces one by one takes longer than to end.
  static Session* kept = nullptr;
  delete kept;
  kept = new Session;
  Session& session = *kept;
  const Result<int> done = RunAsked(arguments, session);
  const int exit_code = done.ok() ? *done : ExitOf(done.error());
  if (!session.is_root) return exit_code;
  const std::string error = done.ok() ? "" : done.error().message;
  if (!error.empty()) fmt::print(stderr, "steplens: {}\n", error);
  if (arguments.Has("--agent")) {
    fmt::print("{}\n", MachineAnswer(session.outcome, session.written, exit_code, error,
                                     LanguageOf(arguments)));
  }
  return exit_code;
}

}  // namespace

CommandSpec ClusterCommand() {
  CommandSpec spec;
  spec.summary = "Find slow ranks, links and groups of a job, and analyse all ranks";
  spec.description = fmt::format(
      "Reads every rank below DIR once and runs one or more modes. Results go to "
      "<output_path>/cluster_analysis_output. This is the default command: 'steplens -d DIR' runs "
      "it. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing to analyse.\n\n"
      "Machines without a shared disk: 'steplens cluster map -d DIR --out FILE' on each, then "
      "'steplens cluster reduce FILE... -o DIR' on one.\n\n"
      "Modes: {}",
      fmt::join(recipes::ModeNames(), ", "));
  spec.options = ClusterOptions();
  spec.example = "steplens cluster -m all -d examples/sample -o /tmp/result";
  spec.takes_unknown = true;
  spec.run = RunCluster;
  return spec;
}

}  // namespace steplens::cli
