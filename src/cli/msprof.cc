#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/prof_results.h"

// The command line of CANN's msprof, for scripts that have it: its own form (--export=on
// --output=DIR) and that of its Python script (export summary -dir DIR).

namespace steplens::cli {
namespace {

bool IsOn(const Arguments& arguments, std::string_view option) {
  return arguments.Value(option) == "on";
}

std::string ActionOf(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.Positional("ACTION");
  if (!words.empty()) return words.front();
  for (const std::string_view action : {"export", "analyze", "query", "parse"}) {
    if (IsOn(arguments, "--" + std::string(action))) return std::string(action);
  }
  return {};
}

Error Unknown(const std::string& message) { return {ErrorCode::kInvalidArgument, message}; }

// communication, communication_matrix or both.
Status ReadRules(const std::string& text, ProfRequest& request) {
  request.has_times = request.has_matrix = false;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string rule = text.substr(begin, end - begin);
    if (rule == "communication") {
      request.has_times = true;
    } else if (rule == "communication_matrix") {
      request.has_matrix = true;
    } else {
      return Unknown(fmt::format(
          "--rule: '{}' is no rule; communication or communication_matrix was expected", rule));
    }
    begin = end + 1;
  }
  return {};
}

Result<ProfRequest> RequestOf(const std::string& action, const Arguments& arguments) {
  ProfRequest request;
  request.force = true;  // whoever asks msprof for an export gets one
  const std::string type = arguments.Value("--type");
  if (action == "analyze") {
    request.has_analysis = true;
    request.has_analysis_text = type != "db";
    SL_RETURN_IF_ERROR(ReadRules(arguments.Value("--rule"), request));
    return request;
  }
  const std::vector<std::string>& words = arguments.Positional("WHAT");
  const std::string what = words.empty() ? (type == "db" ? "db" : "all") : words.front();
  request.has_text = what != "db";
  request.has_db = what == "db" || what == "all";
  return request;
}

Status CheckWhole(const Arguments& arguments) {
  for (const std::string_view option : {"--model-id", "--iteration-id", "--iteration-count"}) {
    if (arguments.Value(option).empty()) continue;
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: single iterations are not exported; leave it out for the whole "
                             "capture, or use 'steplens view' to look at one",
                             option)};
  }
  return {};
}

Result<int> DescribeAll(const std::vector<std::string>& folders) {
  ThreadPool pool(0);
  int exit_code = 0;
  for (const std::string& folder : folders) {
    const Result<std::string> text = DescribeProf(folder, pool);
    if (text.ok()) {
      fmt::print("{}", *text);
      continue;
    }
    fmt::print(stderr, "steplens: {}: {}\n", folder, text.error().message);
    if (exit_code == 0) exit_code = ExitCode(text.error().code);
  }
  return exit_code;
}

Result<int> RunMsprof(const Arguments& arguments) {
  ::umask(::umask(0) | 027);  // results are for the user and the group
  const std::string action = ActionOf(arguments);
  if (action.empty()) {
    return Unknown(
        "what to do is not said; --export=on, --analyze=on, --query=on or --parse=on "
        "was expected (recording: steplens record)");
  }
  std::string path = arguments.Value("--output");
  if (path.empty()) path = arguments.Value("--collection-dir");
  if (path.empty()) return Unknown("--output: the folder of the raw data was expected");
  SL_RETURN_IF_ERROR(CheckWhole(arguments));
  const std::vector<std::string> folders = FindProfFolders(path);
  if (folders.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: no raw device data found; a PROF_* folder, or one with such "
                             "folders in it, was expected",
                             path)};
  }
  if (action == "query" || action == "parse" || action == "import") return DescribeAll(folders);
  SL_ASSIGN_OR_RETURN(const ProfRequest request, RequestOf(action, arguments));
  return WriteAllProfResults(folders, request, 0);
}

OptionSpec Switch(const std::string& name, const std::string& help) {
  return {.name = name, .value_name = "on|off", .help = help, .choices = {"on", "off"}};
}

}  // namespace

CommandSpec MsprofCommand() {
  CommandSpec spec;
  spec.summary = "Results of raw device data (PROF_*) with the options of CANN's msprof";
  spec.description =
      "Takes the command lines of msprof and of its script: --export=on --output=DIR, or export "
      "summary -dir DIR. Results are written into the PROF_* folders, as msprof does it; nothing "
      "else in them changes, and no intermediate databases are made.";
  spec.positionals = {{.name = "ACTION",
                       .help = "export, analyze, query or import: the words of the script",
                       .required = false,
                       .is_path = false,
                       .choices = {"export", "analyze", "query", "import"}},
                      {.name = "WHAT",
                       .help = "export: summary, timeline (the text files, both at once) or db",
                       .required = false,
                       .is_path = false,
                       .choices = {"summary", "timeline", "db"}}};
  spec.options = {
      Switch("--export", "Write the results: text files and database"),
      Switch("--analyze", "Write analyze/: times and links of the collectives"),
      Switch("--query", "Print devices, models and iterations"),
      Switch("--parse", "Read the raw data and print what is in it"),
      {.name = "--output",
       .value_name = "DIR",
       .help = "A PROF_* folder, or one with several in it"},
      {.name = "--collection-dir",
       .value_name = "DIR",
       .help = "The same, as the script calls it",
       .short_name = "-dir"},
      {.name = "--type",
       .value_name = "TYPE",
       .help = "text (and the database with it) or db alone",
       .default_value = "text",
       .choices = {"text", "db"}},
      {.name = "--rule",
       .value_name = "RULES",
       .help = "analyze: communication, communication_matrix or both with a comma",
       .default_value = "communication,communication_matrix",
       .short_name = "-r",
       .suggestions = {"communication", "communication_matrix",
                       "communication,communication_matrix"}},
      {.name = "--summary-format",
       .value_name = "FORMAT",
       .help = "Form of the summary files",
       .default_value = "csv",
       .choices = {"csv"}},
      {.name = "--model-id", .value_name = "N", .help = "Refused: whole captures only"},
      {.name = "--iteration-id", .value_name = "N", .help = "Refused: whole captures only"},
      {.name = "--iteration-count", .value_name = "N", .help = "Refused: whole captures only"},
      {.name = "--clear",
       .value_name = "on|off",
       .help = "Taken and ignored: there are no intermediate databases",
       .choices = {"on", "off"}}};
  spec.example = "steplens msprof --help";
  spec.run = RunMsprof;
  return spec;
}

}  // namespace steplens::cli
