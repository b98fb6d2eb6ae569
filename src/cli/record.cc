#include "record/config.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/number.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/recording_check.h"
#include "cli/results_folder.h"
#include "cli/standard_streams.h"
#include "record/control.h"
#include "record/launch.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;

Result<std::vector<int64_t>> Integers(const Arguments& arguments, const std::string& option) {
  std::vector<int64_t> numbers;
  for (const std::string& word : arguments.Values(option)) {
    const std::optional<int64_t> number = ParseInt64(word);
    if (!number) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{}: '{}' is not a whole number", option, word)};
    }
    numbers.push_back(*number);
  }
  return numbers;
}

Result<record::Config> ConfigOf(const Arguments& arguments) {
  record::Config config;
  config.step_start = *arguments.Integer("--profile-step-start");
  constexpr int64_t kSteps = 3;
  config.step_end = *arguments.Integer("--profile-step-end");
  if (arguments.Has("--profile-step-start") && !arguments.Has("--profile-step-end")) {
    config.step_end = config.step_start + kSteps;
  }
  SL_ASSIGN_OR_RETURN(const std::vector<int64_t> ranks, Integers(arguments, "--profile-ranks"));
  if (!ranks.empty()) config.ranks = ranks;
  config.level = arguments.Value("--profile-level");
  if (arguments.Has("--profile-export-type")) {
    config.export_types = arguments.Values("--profile-export-type");
  }
  config.data_simplification = arguments.Has("--profile-data-simplification");
  config.with_cpu = arguments.Has("--profile-with-cpu");
  config.with_stack = arguments.Has("--profile-with-stack");
  config.with_modules = arguments.Has("--profile-with-modules");
  config.with_memory = arguments.Has("--profile-with-memory");
  config.record_shapes = arguments.Has("--profile-record-shapes");
  config.warmup = *arguments.Integer("--profile-warmup");
  config.repeat = *arguments.Integer("--profile-repeat");
  config.wait = *arguments.Integer("--profile-wait");
  config.with_flops = arguments.Has("--profile-with-flops");
  config.aic_metrics = arguments.Value("--aic-metrics");
  config.l2_cache = arguments.Has("--l2-cache");
  config.op_attr = arguments.Has("--op-attr");
  config.record_op_args = arguments.Has("--record-op-args");
  config.mstx = arguments.Has("--mstx");
  config.mstx_include = arguments.Values("--mstx-domain-include");
  config.mstx_exclude = arguments.Values("--mstx-domain-exclude");
  config.sys_io = arguments.Has("--sys-io");
  config.sys_interconnection = arguments.Has("--sys-interconnection");
  config.worker_name = arguments.Value("--worker-name");
  config.host_sys = arguments.Values("--host-sys");
  if (arguments.Has("--gc-detect-threshold")) {
    config.gc_threshold_ms = ParseDouble(arguments.Value("--gc-detect-threshold"));
    if (!config.gc_threshold_ms) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("--gc-detect-threshold: '{}' is not a number of milliseconds",
                               arguments.Value("--gc-detect-threshold"))};
    }
  }
  config.save_path = arguments.Value("--profile-save-path");
  config.analyse = arguments.Value("--analyse");
  config.wait_for_start = arguments.Has("--wait-for-start");
  if (arguments.Has("--profile")) {
    record::ApplyMindSpeedRules({.step_start = arguments.Has("--profile-step-start"),
                                 .step_end = arguments.Has("--profile-step-end"),
                                 .ranks = arguments.Has("--profile-ranks"),
                                 .level = arguments.Has("--profile-level"),
                                 .save_path = arguments.Has("--profile-save-path")},
                                config);
  }
  return config;
}

// Whether captures can be written below the save path, before a program runs for nothing.
Status CheckSavePath(const std::string& save_path) {
  std::error_code error;
  fs::path there = save_path;
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, error)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--profile-save-path: {} is not a folder", there.string())};
  }
  if (::access(there.c_str(), W_OK | X_OK) == 0) return {};
  return Error{ErrorCode::kIo,
               fmt::format("--profile-save-path: nothing can be written into {}: {}",
                           there.string(), std::strerror(errno))};
}

// The same for all processes that mpirun or srun starts, so that they meet in one job.
std::string JobName(const Arguments& arguments, const std::string& program) {
  if (arguments.Has("--job")) return arguments.Value("--job");
  for (const char* variable : {"SLURM_JOB_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}) {
    if (const char* value = std::getenv(variable)) {
      std::string name = fmt::format("job-{}", value);
      std::replace(name.begin(), name.end(), '/', '_');
      return name;
    }
  }
  return fmt::format("{}-{}", fs::path(program).filename().string(), ::getpid());
}

// Captures below the save path that were not there before the program ran.
std::vector<std::string> NewCaptures(const std::string& save_path, fs::file_time_type since) {
  std::vector<std::string> captures;
  std::error_code ignored;
  for (auto entry = fs::recursive_directory_iterator(
           save_path, fs::directory_options::skip_permission_denied, ignored);
       entry != fs::recursive_directory_iterator(); entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with("_ascend_pt") && !name.ends_with("_ascend_ms")) continue;
    entry.disable_recursion_pending();
    if (entry->last_write_time(ignored) >= since) captures.push_back(entry->path().string());
  }
  std::sort(captures.begin(), captures.end());
  return captures;
}

// A path as a shell reads it back.
std::string ShellWord(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:@%,=";
  if (!path.empty() && path.find_first_not_of(kPlain) == path.npos) return path;
  std::string word = "'";
  for (const char c : path) c == '\'' ? word += "'\\''" : word += c;
  return word + "'";
}

// A line for each kind of loss, with the first capture that has it.
void SayWhatWasLost(const std::vector<std::string>& captures) {
  for (const store::IssueKind kind :
       {store::IssueKind::kRecordsDropped, store::IssueKind::kCaptureUnfinished}) {
    size_t count = 0;
    std::string first;
    for (const std::string& capture : captures) {
      const store::IssueLog losses = LossesIn(capture);
      if (losses.entry(kind).count == 0) continue;
      if (count++ == 0)
        first = fmt::format("{}: {}", fs::path(capture).filename().string(),
                            losses.entry(kind).example);
    }
    if (count == 0) continue;
    Say(fmt::format("steplens: {} of {} captures {} not whole. {} ({}{})\n", count, captures.size(),
                    count == 1 ? "is" : "are", store::GetIssueInfo(kind).text,
                    count == 1 ? "" : "first: ", first));
  }
}

void SayWhatWasRecorded(const record::Config& config, fs::file_time_type since) {
  const std::vector<std::string> captures = NewCaptures(config.save_path, since);
  if (captures.empty()) {
    fmt::print(stderr,
               "steplens: nothing was recorded in {}. Unless a message above says why, the program "
               "ended before step {}, or this process is none of the ranks asked for; try "
               "--profile-step-start 1 --profile-step-end -1\n",
               config.save_path, config.step_start);
    return;
  }
  fmt::print(stderr, "steplens: recorded {} capture{} in {}\n", captures.size(),
             captures.size() == 1 ? "" : "s", config.save_path);
  const bool should_have_results = config.analyse == "sync";
  const auto lacks_results = [](const fs::path& capture) {
    std::error_code ignored;
    return !fs::exists(capture / kResultsFolder / kDoneFile, ignored);
  };
  const auto lacking = std::count_if(captures.begin(), captures.end(), lacks_results);
  if (should_have_results && lacking > 0) {
    fmt::print(stderr, "steplens: {} of them without result files; next: steplens analyse {}\n",
               lacking, ShellWord(config.save_path));
  } else {
    fmt::print(stderr, "steplens: next: steplens breakdown {0}; steplens view {0}\n",
               ShellWord(config.save_path));
  }
  SayWhatWasLost(captures);
}

// An option that says nothing in this use of the command.
Error IsForAnother(std::string_view option, std::string_view use) {
  return Error{ErrorCode::kInvalidArgument, fmt::format("{} is for {}", option, use)};
}

Result<int> Launch(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.Positional("PROGRAM");
  if (arguments.Has("--at-step")) {
    return IsForAnother("--at-step", "'steplens record start' and 'stop'");
  }
  if (arguments.Has("--steps")) return IsForAnother("--steps", "'steplens record start'");
  SL_ASSIGN_OR_RETURN(record::Config config, ConfigOf(arguments));
  if (!words.empty()) config.job = JobName(arguments, words.front());
  if (arguments.Has("--job")) SL_RETURN_IF_ERROR(record::CheckJobName(config.job));
  SL_RETURN_IF_ERROR(record::Settle(config, record::Machine::Here()));
  if (arguments.Has("--dry-run")) {
    SL_RETURN_IF_ERROR(PrintTable(record::ToTable(config), arguments));
    return 0;
  }
  if (words.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "no program to record; type it after --, as in: steplens record -- python "
                 "train.py"};
  }
  SL_RETURN_IF_ERROR(CheckSavePath(config.save_path));
  for (const record::Change& change : config.changes) {
    fmt::print(stderr, "steplens: {} {}\n", change.option, change.reason);
  }
  const record::Parts parts = record::Parts::Find();
  if (parts.python_bootstrap.empty() && parts.collect_library.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("the recording libraries are not next to {}: expected python/ and "
                             "libsteplens_collect.so there; build them with 'make'",
                             parts.program)};
  }
  Result<record::Job> job = record::CreateJob(config.job);
  if (job.ok()) {
    config.control_dir = job->folder;
  } else {
    fmt::print(stderr, "steplens: this job cannot be steered: {}\n", job.error().message);
  }
  const fs::file_time_type begun = fs::file_time_type::clock::now();
  Result<int> code = record::RunProgram(words, config, parts);
  if (job.ok()) record::CloseJob(*job);
  if (code.ok()) SayWhatWasRecorded(config, begun);
  return code;
}

Result<int> ShowStatus(const Arguments& arguments) {
  if (arguments.Has("--job")) {
    SL_ASSIGN_OR_RETURN(const record::Job job, record::FindJob(arguments.Value("--job")));
    for (const std::string& note : job.notes) Say(fmt::format("steplens: {}\n", note));
    SL_RETURN_IF_ERROR(PrintTable(record::StatusTable(job), arguments));
    return 0;
  }
  std::vector<std::string> notes;
  const std::vector<record::Job> jobs = record::AllJobs(&notes);
  for (const std::string& note : notes) Say(fmt::format("steplens: {}\n", note));
  if (jobs.empty()) fmt::print(stderr, "steplens: no job can be steered here\n");
  for (const record::Job& job : jobs) {
    fmt::print("job {}\n", job.name);
    SL_RETURN_IF_ERROR(PrintTable(record::StatusTable(job), arguments));
  }
  return 0;
}

std::vector<OptionSpec> ProfileOptions() {
  return {
      {.name = "--profile",
       .help = "Use MindSpeed-LLM's defaults for the other --profile options: all steps, rank 0, "
               "level0, ./profile"},
      {.name = "--profile-step-start",
       .value_name = "N",
       .help = "First training step to record, counted from 1",
       .default_value = "2",
       .is_integer = true},
      {.name = "--profile-step-end",
       .value_name = "N",
       .help = "Stop before this step; -1 records to the end. Default: 3 steps",
       .default_value = "5",
       .is_integer = true},
      {.name = "--profile-warmup",
       .value_name = "N",
       .help = "Warm-up steps before the first one; their data is discarded",
       .default_value = "0",
       .is_integer = true},
      {.name = "--profile-repeat",
       .value_name = "N",
       .help = "Times to repeat the range, one folder each; 0 = unlimited",
       .default_value = "1",
       .is_integer = true},
      {.name = "--profile-wait",
       .value_name = "N",
       .help = "Steps between two repetitions",
       .default_value = "0",
       .is_integer = true},
      {.name = "--profile-ranks",
       .value_name = "R...",
       .help = "Ranks to record; -1: all",
       .default_value = "-1",
       .is_list = true},
      {.name = "--profile-level",
       .value_name = "LEVEL",
       .help = "Level of device data",
       .default_value = "level1",
       .choices = {"level_none", "level0", "level1", "level2"}},
      {.name = "--profile-export-type",
       .value_name = "TYPE...",
       .help = "Format of the result files: text, db",
       .default_value = "text",
       .is_list = true,
       .suggestions = {"text", "db"}},
      {.name = "--profile-data-simplification", .help = "Reduce the raw data after analysis"},
      {.name = "--profile-with-cpu", .help = "Record framework operators on the host"},
      {.name = "--profile-with-stack", .help = "Record Python call stacks and functions"},
      {.name = "--profile-with-modules", .help = "Record the module hierarchy"},
      {.name = "--profile-with-memory", .help = "Allocations"},
      {.name = "--profile-record-shapes", .help = "Record shapes and types of operator inputs"},
      {.name = "--profile-save-path",
       .value_name = "DIR",
       .help = "Folder for captures",
       .default_value = "./profile_dir"},
      {.name = "--profile-with-flops",
       .help = "Record FLOPs of matrix products as marks; needs --mstx"},
      {.name = "--aic-metrics",
       .value_name = "GROUP",
       .help = "Metric group for the device cores",
       .choices = {"PipeUtilization", "ArithmeticUtilization", "Memory", "MemoryL0", "MemoryUB",
                   "ResourceConflictRatio", "L2Cache", "MemoryAccess", "AiCoreNone"}},
      {.name = "--l2-cache", .help = "L2 cache of the device"},
      {.name = "--op-attr", .help = "Record device operator attributes; db only"},
      {.name = "--record-op-args", .help = "Dump arguments of device operators"},
      {.name = "--mstx", .help = "Record user marks and ranges"},
      {.name = "--mstx-domain-include",
       .value_name = "DOMAIN...",
       .help = "Only marks of these domains",
       .is_list = true},
      {.name = "--mstx-domain-exclude",
       .value_name = "DOMAIN...",
       .help = "No marks of these domains",
       .is_list = true},
      {.name = "--sys-io", .help = "Network and I/O of the device"},
      {.name = "--sys-interconnection", .help = "Links between devices and to the host"},
      {.name = "--host-sys",
       .value_name = "SOURCE...",
       .help = "Sample the host: cpu, mem, disk, network, osrt, numa",
       .is_list = true,
       .suggestions = {"cpu", "mem", "disk", "network", "osrt", "numa"}},
      {.name = "--gc-detect-threshold",
       .value_name = "MS",
       .help = "Record garbage collections that take at least this long (ms)"},
      {.name = "--worker-name",
       .value_name = "NAME",
       .help = "First part of capture names. Default: the host name"},
      {.name = "--analyse",
       .value_name = "WHEN",
       .help = "When to write the result files at the end of a capture: sync, async, no",
       .default_value = "sync",
       .choices = {"sync", "async", "no"}},
      {.name = "--wait-for-start", .help = "Record nothing until 'steplens record start'"},
      {.name = "--dry-run",
       .help = "Print the settings and why any was changed; do not start the program"},
      {.name = "--job", .value_name = "ID", .help = "Job name, used to control it at run time"},
      {.name = "--at-step",
       .value_name = "N",
       .help = "start, stop: the step at which all ranks act. Default: the next step all of them "
               "can reach",
       .is_integer = true},
      {.name = "--steps",
       .value_name = "N",
       .help = "start: number of steps to record",
       .default_value = "1",
       .is_integer = true},
  };
}

// Start and stop set time and ranks; the settings were given when the job was started.
Status CheckSteering(const Arguments& arguments, const std::string& action) {
  if (action == "stop" && arguments.Has("--steps")) {
    return IsForAnother("--steps", "'steplens record start'");
  }
  for (const OptionSpec& option : ProfileOptions()) {
    const bool steers = option.name == "--job" || option.name == "--profile-ranks" ||
                        option.name == "--at-step" || option.name == "--steps";
    if (steers || !arguments.Has(option.name)) continue;
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: a running job records what it was started with; {} takes --job, "
                             "--profile-ranks and --at-step{}",
                             option.name, action, action == "start" ? ", and --steps" : "")};
  }
  return {};
}

// Ranks that record already answer a start in the job's own log, which may go unread.
void SayWhoWillRefuse(const record::Job& job, const record::Request& request) {
  for (const record::RankStatus* rank : record::AskedRanks(job, request)) {
    if (rank->state != "recording" && rank->state != "armed") continue;
    fmt::print(stderr, "steplens: rank {} is {} already and will refuse\n", rank->rank,
               rank->state);
  }
}

Result<int> Steer(const Arguments& arguments, const std::string& action) {
  SL_RETURN_IF_ERROR(CheckSteering(arguments, action));
  SL_ASSIGN_OR_RETURN(const record::Job job, record::FindJob(arguments.Value("--job")));
  for (const std::string& note : job.notes) Say(fmt::format("steplens: {}\n", note));
  record::Request request;
  request.action = action;
  SL_ASSIGN_OR_RETURN(request.ranks, Integers(arguments, "--profile-ranks"));
  if (request.ranks == std::vector<int64_t>{-1}) request.ranks.clear();
  request.at_step = arguments.Integer("--at-step");
  request.steps = *arguments.Integer("--steps");
  if (request.steps < 1) return Error{ErrorCode::kInvalidArgument, "--steps: at least 1"};
  SL_ASSIGN_OR_RETURN(const int64_t at_step, record::Send(job, request));
  if (action == "start") SayWhoWillRefuse(job, request);
  const std::string length =
      action == "start" ? fmt::format(", {} step{}", request.steps, request.steps == 1 ? "" : "s")
                        : "";
  fmt::print("job {}: {} recording at step {}{}\n", job.name, action, at_step, length);
  return 0;
}

Result<int> RunRecord(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.Positional("PROGRAM");
  if (words.size() == 1 && words[0] == "status") return ShowStatus(arguments);
  if (words.size() == 1 && (words[0] == "start" || words[0] == "stop")) {
    return Steer(arguments, words[0]);
  }
  return Launch(arguments);
}

}  // namespace

CommandSpec RecordCommand() {
  CommandSpec spec;
  spec.summary = "Record a program, or control a recording that is running";
  spec.description =
      "'steplens record [options] -- program args...' runs the program unchanged. Every rank it "
      "starts records the requested steps and writes its result folder below the save path. Steps "
      "are optimizer steps, or the steps the program marks; a program without steps is recorded as "
      "a whole. The exit code is the program's. 'steplens record "
      "start|stop|status [--job ID]' controls a job started this way, on chosen ranks, at a common "
      "step.";
  spec.positionals = {{.name = "PROGRAM",
                       .help = "after --: the program and its arguments; or start, stop, status",
                       .repeated = true,
                       .required = false,
                       .is_path = false,
                       .suggestions = {"start", "stop", "status"}}};
  spec.rest_positional = "PROGRAM";
  spec.options = Joined(ProfileOptions(), TableOptions());
  spec.example =
      "steplens record --dry-run --profile-step-start 5 --profile-step-end 6 --profile-ranks 0 1 "
      "--profile-with-stack --profile-save-path prof -- python train.py";
  spec.run = RunRecord;
  return spec;
}

}  // namespace steplens::cli
