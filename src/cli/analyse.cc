#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/allocator.h"
#include "base/cancel.h"
#include "base/thread_pool.h"
#include "cli/capture_analysis.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/open_input.h"
#include "cli/prof_results.h"
#include "cli/results_folder.h"
#include "cluster/ranks.h"
#include "export/export.h"
#include "format/framework.h"
#include "readers/detect.h"

namespace steplens::cli {
namespace {

using readers::RankSource;

// --export-type text --export-type db, or text,db.
Result<std::vector<std::string>> ParseTypes(const std::vector<std::string>& values) {
  std::vector<std::string> types;
  for (const std::string& value : values) {
    for (size_t begin = 0; begin <= value.size();) {
      const size_t end = std::min(value.find(',', begin), value.size());
      const std::string type = value.substr(begin, end - begin);
      if (type != "text" && type != "db") {
        return Error{
            ErrorCode::kInvalidArgument,
            fmt::format("--export-type: '{}' is not a type; text or db was expected", type)};
      }
      if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
      begin = end + 1;
    }
  }
  return types;
}

Result<std::optional<std::vector<int64_t>>> ParseRanks(const std::vector<std::string>& values) {
  if (values.empty()) return std::optional<std::vector<int64_t>>();
  const std::string text = fmt::format("{}", fmt::join(values, ","));
  Result<std::optional<std::vector<int64_t>>> ranks = cluster::ParseRankList(text);
  if (ranks.ok()) return ranks;
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("--rank: '{}' is not a list of ranks; 0-7,16 or all was expected", text)};
}

// --step-list 3-5,7: the same form. Sorted; empty: all.
Result<std::vector<int64_t>> ParseSteps(const std::vector<std::string>& values) {
  if (values.empty()) return std::vector<int64_t>();
  const std::string text = fmt::format("{}", fmt::join(values, ","));
  Result<std::optional<std::vector<int64_t>>> steps = cluster::ParseRankList(text);
  if (steps.ok()) return (*steps).value_or(std::vector<int64_t>());
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("--step-list: '{}' is not a list of steps; 3-5,7 or all was expected", text)};
}

Result<size_t> ParseJobs(const Arguments& arguments) {
  const int64_t jobs = arguments.Integer("--jobs").value_or(0);
  if (jobs < 0 || jobs > 1024) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--jobs: {} is out of range, 0 to 1024 was expected", jobs)};
  }
  return static_cast<size_t>(jobs);
}

std::string RankText(const RankSource& capture) {
  return capture.rank == store::kNone ? std::string("rank unknown")
                                      : fmt::format("rank {}", capture.rank);
}

// The captures below PATH that --rank names.
Result<std::vector<RankSource>> FindCaptures(const Arguments& arguments) {
  const std::string& path = arguments.Positional("PATH").front();
  SL_ASSIGN_OR_RETURN(const auto ranks, ParseRanks(arguments.Values("--rank")));
  SL_ASSIGN_OR_RETURN(readers::Detected detected, readers::DetectRawRanks(path));
  for (const store::InputFile& file : detected.ignored) {
    fmt::print(stderr, "steplens: {}: left out: {}\n", file.path, file.note);
  }
  if (!ranks) return std::move(detected.ranks);
  std::vector<RankSource> chosen;
  for (RankSource& capture : detected.ranks) {
    if (std::binary_search(ranks->begin(), ranks->end(), capture.rank))
      chosen.push_back(std::move(capture));
  }
  if (!chosen.empty()) return chosen;
  return Error{ErrorCode::kNotFound, fmt::format("{}: {} captures, none of rank {}", path,
                                                 detected.ranks.size(), fmt::join(*ranks, ", "))};
}

// Call stacks are most of a raw capture that has them, and each is kept once: the store is small
// beside it, and pages of 2 MB make it faster. Without them the store is the larger one.
void ChooseAllocation(const std::vector<RankSource>& captures) {
  const auto has_stacks = [](const RankSource& capture) {
    return std::any_of(capture.files.begin(), capture.files.end(), [](const auto& file) {
      return std::filesystem::path(file.path).filename().string().starts_with(
          format::kPythonNameFile);
    });
  };
  if (std::all_of(captures.begin(), captures.end(), has_stacks)) {
    UseLargePagesEverywhere();
  } else {
    ReturnFreedMemory();
  }
}

// Each capture for itself; a failure does not stop the others and is the exit code in the end.
Result<int> AnalyseAll(const std::vector<RankSource>& captures, const AnalysisRequest& request,
                       size_t jobs) {
  ChooseAllocation(captures);
  ThreadPool pool(jobs);
  std::vector<std::optional<Result<AnalysisOutcome>>> outcomes(captures.size());
  pool.ParallelFor(captures.size(), [&](size_t i) {
    if (IsCancelled()) {
      outcomes[i] = Error{ErrorCode::kCancelled, "interrupted"};
    } else {
      outcomes[i] = AnalyseCapture(captures[i], request, pool);
    }
  });
  int exit_code = 0;
  for (size_t i = 0; i < captures.size(); ++i) {
    const Result<AnalysisOutcome>& outcome = *outcomes[i];
    if (outcome.ok()) {
      // What is missing comes first: who reads on knows how far the results can be trusted.
      if (!outcome->warning.empty()) {
        fmt::print(stderr, "steplens: {}: {}: {}\n", RankText(captures[i]), captures[i].path,
                   outcome->warning);
      }
      fmt::print("{}: {}: {}\n", RankText(captures[i]), captures[i].path, outcome->message);
      continue;
    }
    fmt::print(stderr, "steplens: {}: {}\n", RankText(captures[i]), outcome.error().message);
    if (exit_code == 0) exit_code = ExitCode(outcome.error().code);
  }
  return exit_code;
}

Status WriteSingle(const store::TraceStore& store, const std::string& what,
                   const Arguments& arguments) {
  const std::string path = arguments.Value("--output");
  if (what == "chrome_trace") return exporting::WriteChromeTrace(store, {}, path);
  if (what == "memory_timeline") {
    return exporting::WriteMemoryTimeline(store, arguments.Value("--device"), path);
  }
  SL_ASSIGN_OR_RETURN(const exporting::StackMetric metric,
                      exporting::ParseStackMetric(arguments.Value("--metric")));
  return exporting::WriteStacks(store, metric, path);
}

Result<int> ExportOne(const std::vector<RankSource>& captures, const std::string& what, size_t jobs,
                      const Arguments& arguments) {
  if (arguments.Value("--output").empty()) {
    return Error{ErrorCode::kInvalidArgument, "--export: --output FILE was expected with it"};
  }
  if (captures.size() != 1) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--export writes one file, but there are {} captures ({}, {}, ...); "
                             "choose one with --rank",
                             captures.size(), RankText(captures[0]), RankText(captures[1]))};
  }
  ThreadPool pool(jobs);
  const opening::RawUse use =
      what == "memory_timeline" ? opening::RawUse::kMemoryTimeline : opening::RawUse::kSingleFile;
  SL_ASSIGN_OR_RETURN(const store::TraceStore store, OpenRawCapture(captures.front(), pool, use));
  SL_RETURN_IF_ERROR(WriteSingle(store, what, arguments));
  CloseFileToOthers(arguments.Value("--output"));
  fmt::print("{}\n", arguments.Value("--output"));
  return 0;
}

// Raw device data on its own, without the framework's capture around it. None is no error.
std::vector<std::string> FindLoneProfFolders(const std::string& path) {
  if (IsProfFolder(path)) return {path};
  return readers::DetectRawRanks(path).ok() ? std::vector<std::string>() : FindProfFolders(path);
}

Result<int> AnalyseProfFolders(const std::vector<std::string>& folders,
                               const AnalysisRequest& request, const Arguments& arguments,
                               size_t jobs) {
  for (const std::string_view option :
       {"--rank", "--step-list", "--data-simplification", "--export"}) {
    if (!arguments.Has(option)) continue;
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: is for captures with FRAMEWORK/; {} is raw device data alone, "
                             "which is exported whole",
                             option, folders.front())};
  }
  const auto asks = [&](std::string_view type) {
    return request.types.empty() ||
           std::find(request.types.begin(), request.types.end(), type) != request.types.end();
  };
  ProfRequest prof;
  prof.has_text = asks("text");
  prof.has_db = asks("db");
  prof.has_analysis = true;
  prof.has_analysis_text = prof.has_text;
  prof.force = request.force;
  return WriteAllProfResults(folders, prof, jobs);
}

// Captures of MindSpore below `path` that were analysed and whose raw data was removed then.
std::vector<RankSource> FindSimplified(const std::string& path) {
  namespace fs = std::filesystem;
  Result<readers::Detected> detected = readers::DetectRanks({path});
  if (!detected.ok()) return {};
  std::error_code error;
  std::erase_if(detected->ranks, [&](const RankSource& rank) {
    const fs::path folder = rank.path;
    return !store::IsMindSpore(rank.source) ||
           !fs::exists(folder / kResultsFolder / kDoneFile, error) ||
           fs::exists(folder / format::kFrameworkFolder, error);
  });
  return std::move(detected->ranks);
}

// There is no raw capture: what is said of those that have results alone, else `error`.
Result<int> WithoutRawData(const Arguments& arguments, const AnalysisRequest& request,
                           const Error& error) {
  if (error.code != ErrorCode::kNotFound || arguments.Has("--rank")) return error;
  const std::vector<RankSource> captures = FindSimplified(arguments.Positional("PATH").front());
  if (captures.empty()) return error;
  const bool has_types = std::all_of(captures.begin(), captures.end(), [&](const auto& capture) {
    return HasResultsOf(capture.path, request.types);
  });
  if (request.force || !has_types || !request.steps.empty() || arguments.Has("--export")) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: its raw data was removed after the analysis "
                             "(data_simplification), so the results cannot be made again; "
                             "'steplens convert' writes them in another form",
                             captures.front().path)};
  }
  for (const RankSource& capture : captures) {
    fmt::print(
        "{}: {}: the results are complete; the raw data was removed after the analysis "
        "(data_simplification)\n",
        RankText(capture), capture.path);
  }
  return 0;
}

Result<int> RunAnalyse(const Arguments& arguments) {
  ::umask(::umask(0) | 027);  // results are for the user and the group: files 0640, folders 0750
  AnalysisRequest request;
  request.force = arguments.Has("--force");
  if (arguments.Has("--data-simplification")) {
    request.simplify = arguments.Value("--data-simplification") == "on";
  }
  SL_ASSIGN_OR_RETURN(request.types, ParseTypes(arguments.Values("--export-type")));
  SL_ASSIGN_OR_RETURN(request.steps, ParseSteps(arguments.Values("--step-list")));
  SL_ASSIGN_OR_RETURN(const size_t jobs, ParseJobs(arguments));
  const std::vector<std::string> profs = FindLoneProfFolders(arguments.Positional("PATH").front());
  if (!profs.empty()) return AnalyseProfFolders(profs, request, arguments, jobs);
  const Result<std::vector<RankSource>> found = FindCaptures(arguments);
  if (!found.ok()) return WithoutRawData(arguments, request, found.error());
  const std::vector<RankSource>& captures = *found;
  const std::string what = arguments.Value("--export");
  if (!what.empty() && !request.steps.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "--step-list chooses the steps of the results; --export writes all steps"};
  }
  if (!what.empty()) return ExportOne(captures, what, jobs, arguments);
  return AnalyseAll(captures, request, jobs);
}

std::vector<OptionSpec> AnalyseOptions() {
  return {{.name = "--export-type",
           .value_name = "TYPE",
           .help = "text, db or text,db; may be repeated. Default: as recorded",
           .is_repeated = true,
           .suggestions = {"text", "db", "text,db"}},
          {.name = "--jobs",
           .value_name = "N",
           .help = "Threads; each converts one capture or one of its files. 0 = one per core",
           .default_value = "0",
           .is_integer = true},
          {.name = "--rank",
           .value_name = "RANKS",
           .help = "Only these ranks: 0-7,16; may be repeated",
           .is_repeated = true},
          {.name = "--step-list",
           .value_name = "STEPS",
           .help = "Only these steps: 3-5,7; may be repeated. Default: all",
           .is_repeated = true},
          {.name = "--data-simplification",
           .value_name = "SWITCH",
           .help = "Remove the exporter's files below PROF_* afterwards. Default: as recorded",
           .choices = {"on", "off"}},
          {.name = "--force", .help = "Analyse captures again even if they are up to date"},
          {.name = "--export",
           .value_name = "WHAT",
           .help = "Write a single file of one capture instead of the results",
           .choices = {"chrome_trace", "stacks", "memory_timeline"}},
          {.name = "--output", .value_name = "FILE", .help = "The file that --export writes"},
          {.name = "--metric",
           .value_name = "METRIC",
           .help = "For --export stacks: self_cpu_time_total or self_npu_time_total",
           .default_value = "self_cpu_time_total",
           .suggestions = {"self_cpu_time_total", "self_npu_time_total"}},
          {.name = "--device",
           .value_name = "DEVICE",
           .help = "For --export memory_timeline: the device to show",
           .default_value = "npu:0"},
          FollowLinksOption()};
}

}  // namespace

CommandSpec AnalyseCommand() {
  CommandSpec spec;
  spec.summary = "Convert raw captures to result files (ASCEND_PROFILER_OUTPUT)";
  spec.description =
      "Finds every raw capture at PATH or below and writes its results next to FRAMEWORK: as text, "
      "as db or both. Old results are replaced only by complete new ones. Captures whose results "
      "are up to date are skipped, so an interrupted run resumes where it stopped. A PROF_* folder "
      "on its own gets the results that CANN's exporter writes: mindstudio_profiler_output, "
      "msprof_*.db and analyze.";
  spec.positionals = {{.name = "PATH", .help = "Folder of a capture, or a parent folder of many"}};
  spec.options = AnalyseOptions();
  spec.example =
      "steplens analyse examples/raw_ascend_pt --export chrome_trace --output /tmp/trace.json";
  spec.run = RunAnalyse;
  return spec;
}

}  // namespace steplens::cli
