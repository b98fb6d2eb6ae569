#include "analysis/advice/advisor.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/standard_streams.h"

namespace steplens::cli {
namespace {

using analysis::AdvisorReport;

constexpr int kFoundExitCode = 3;  // with --fail-on

std::set<std::string> NamesOf(const std::string& list) {
  std::set<std::string> out;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (!word.empty()) out.insert(word);
  }
  return out;
}

Result<std::set<std::string>> FormatsOf(const Arguments& arguments) {
  const std::set<std::string> formats = NamesOf(arguments.Value("--format"));
  for (const std::string& format : formats) {
    if (format == "html" || format == "md" || format == "json" || format == "none") continue;
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--format: '{}' is not one of html, md, json, none", format)};
  }
  return formats;
}

// "20261118171500", as the name of the report has it.
std::string ReportTime() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Status WriteReports(const AdvisorReport& report, const std::set<std::string>& formats,
                    analysis::Language language, const std::string& folder) {
  const std::string stem = fmt::format("mstt_advisor_{}", ReportTime());
  if (!formats.empty() && !formats.contains("none")) {
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) {
      return Error{ErrorCode::kIo,
                   fmt::format("{}: cannot be created: {}", folder, failure.message())};
    }
  }
  for (const std::string& format : formats) {
    if (format == "none") continue;
    const std::string text = format == "html" ? analysis::AdvisorHtml(report, language)
                             : format == "md" ? analysis::AdvisorMarkdown(report, language)
                                              : analysis::AdvisorJson(report, language);
    const std::string path =
        (std::filesystem::path(folder) / fmt::format("{}.{}", stem, format)).string();
    SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
    SL_RETURN_IF_ERROR(file.Write(text.data(), text.size()));
    SL_RETURN_IF_ERROR(file.Commit());
    Say(fmt::format("steplens: wrote {}\n", path));
  }
  return {};
}

// Whether a finding is at least as urgent.
bool HasPriority(const AdvisorReport& report, const std::string& least) {
  const auto level = [](std::string_view name) {
    return name == "high" ? 2 : name == "medium" ? 1 : 0;
  };
  for (const analysis::Finding& finding : report.findings) {
    if (level(analysis::PriorityOf(finding, report.step_ms)) >= level(least)) return true;
  }
  return false;
}

Result<int> RunAdvisorCommand(const Arguments& arguments) {
  SL_ASSIGN_OR_RETURN(const std::set<std::string> formats, FormatsOf(arguments));
  analysis::AdvisorOptions options;
  const std::string dimension = arguments.Positional("DIMENSION").front();
  if (dimension == "computation") options.dimension = analysis::AdviceDimension::kComputation;
  if (dimension == "schedule") options.dimension = analysis::AdviceDimension::kSchedule;
  options.only = NamesOf(arguments.Value("--only"));
  options.skip = NamesOf(arguments.Value("--skip"));
  Arguments input = arguments;
  input.Set("PATH", {arguments.Value("--profiling_path")});
  input.Set("--format", {"table"});  // here the word means the reports
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(input));
  SL_ASSIGN_OR_RETURN(options.selection, SelectionOf(arguments, job));
  SL_ASSIGN_OR_RETURN(AdvisorReport report, analysis::RunAdvisor(job, options));
  const int64_t top = arguments.Integer("--top").value_or(0);
  if (top > 0 && report.findings.size() > static_cast<size_t>(top))
    report.findings.resize(static_cast<size_t>(top));
  const analysis::Language language = arguments.Value("--language") == "cn"
                                          ? analysis::Language::kChinese
                                          : analysis::Language::kEnglish;
  if (arguments.Has("--json") || arguments.Has("--agent")) {
    SL_RETURN_IF_ERROR(PrintResult(analysis::AdvisorJson(report, language)));
  } else {
    SL_RETURN_IF_ERROR(
        PrintTable(analysis::AdvisorTable(report, language), input, "advisor: nothing to advise"));
    SL_RETURN_IF_ERROR(WriteReports(report, formats, language, arguments.Value("--output_path")));
  }
  for (const analysis::Message& warning : report.warnings)
    Say(fmt::format("steplens: {}\n", analysis::Render(warning, language)));
  const bool fails =
      arguments.Has("--fail-on") && HasPriority(report, arguments.Value("--fail-on"));
  return fails ? kFoundExitCode : 0;
}

}  // namespace

CommandSpec AdvisorCommand() {
  CommandSpec spec;
  spec.summary = "What to change, and what a replay says it saves";
  spec.description =
      "Runs the rules over a capture and prints what to change, the largest saving first: the "
      "milliseconds per step by a replay of the recorded step where a rule can say its change, a "
      "bound elsewhere. all: every rule; computation, schedule: those about kernels or about the "
      "host. docs/advisor.md lists the rules.";
  spec.positionals = {{.name = "DIMENSION",
                       .help = "Which rules",
                       .is_path = false,
                       .choices = {"all", "computation", "schedule"}}};
  spec.options = Joined(
      {{.name = "--profiling_path",
        .value_name = "PATH",
        .help = "The capture: a rank's folder, a file, or a folder of ranks",
        .is_required = true,
        .short_name = "-d"},
       {.name = "--output_path",
        .value_name = "DIR",
        .help = "Where reports go",
        .default_value = ".",
        .short_name = "-o"},
       {.name = "--language",
        .value_name = "LANG",
        .help = "Language of texts",
        .default_value = "en",
        .choices = {"cn", "en"},
        .short_name = "-l"},
       {.name = "--format",
        .value_name = "LIST",
        .help = "Reports to write beside the table: html, md, json, none",
        .default_value = "html"},
       {.name = "--agent", .help = "Same as --json"},
       {.name = "--only", .value_name = "RULES", .help = "Only these rules, with commas between"},
       {.name = "--skip", .value_name = "RULES", .help = "Not these rules"},
       {.name = "--fail-on",
        .value_name = "PRIORITY",
        .help = "Exit with 3 if there is a finding of at least this priority",
        .choices = {"high", "medium", "low"}},
       {.name = "--top",
        .value_name = "N",
        .help = "Only the first N findings",
        .is_integer = true},
       {.name = "--rank", .value_name = "R", .help = "Only this rank", .is_integer = true},
       {.name = "--step", .value_name = "S", .help = "Replay only this step", .is_integer = true}},
      Joined(TableOptions(), InputOptions()));
  spec.example = "steplens advisor all -d examples/sample --format none";
  spec.run = RunAdvisorCommand;
  return spec;
}

}  // namespace steplens::cli
