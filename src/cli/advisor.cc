#include "analysis/advice/advisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/number.h"
#include "cli/advisor_options.h"
#include "cli/advisor_output.h"
#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/standard_streams.h"

namespace steplens::cli {
namespace {

using analysis::AdvisorReport;

constexpr int kFoundExitCode = 3;  // with --fail-on
constexpr int kUnusableExitCode = 1;

Result<std::set<std::string>> FormatsOf(const Arguments& arguments) {
  const std::set<std::string> formats = NamesInList(arguments.Value("--format"));
  for (const std::string& format : formats) {
    const bool is_known = format == "html" || format == "xlsx" || format == "md" ||
                          format == "json" || format == "none";
    if (is_known) continue;
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--format: '{}' is not one of html, xlsx, md, json, none", format)};
  }
  return formats;
}

analysis::Language LanguageOf(const Arguments& arguments) {
  std::string language = arguments.Value("--language");
  if (language == "auto") {
    const char* value = std::getenv("LANG");
    language = value != nullptr && std::string_view(value).starts_with("zh") ? "cn" : "en";
  }
  return language == "en" ? analysis::Language::kEnglish : analysis::Language::kChinese;
}

Result<std::set<int64_t>> RanksOf(const Arguments& arguments, const store::Job& job) {
  std::set<int64_t> out;
  for (const std::string& word : NamesInList(arguments.Value("--ranks"))) {
    const auto number = ParseInt64(word);
    const bool is_there = number && std::any_of(job.ranks.begin(), job.ranks.end(),
                                                [&](const store::TraceStore& one) {
                                                  return one.info.rank == *number;
                                                });
    if (!is_there) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("--ranks: '{}' is no rank of this job", word)};
    }
    out.insert(*number);
  }
  return out;
}

// Whether a finding is at least as urgent.
bool HasPriority(const AdvisorReport& report, const std::string& least) {
  const auto level = [](std::string_view name) {
    return name == "high" ? 2 : name == "medium" ? 1 : 0;
  };
  for (const analysis::Finding& finding : report.findings) {
    // How the window divides is no fault.
    if (finding.rule == analysis::RuleId::kOverall) continue;
    if (level(analysis::PriorityOf(finding, report.step_ms)) >= level(least)) return true;
  }
  return false;
}

Result<std::string> PathOf(const Arguments& arguments, const std::string& option) {
  const std::string path = CleanPath(arguments.Value(option));
  if (path.empty()) return path;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Error{ErrorCode::kInvalidArgument, fmt::format("{}: {} does not exist", option, path)};
  return path;
}

Result<store::Job> OpenFor(const Arguments& arguments, const std::string& path) {
  Arguments input = arguments;
  input.Set("PATH", {path});
  input.Set("--format", {"table"});  // here the word means the reports
  return OpenInput(input);
}

Status SayReport(const AdvisorReport& report, const Arguments& arguments,
                 const std::set<std::string>& formats, analysis::Language language) {
  if (arguments.Has("--json") || arguments.Has("--agent"))
    return PrintResult(analysis::AdvisorJson(report, language));
  Arguments shown = arguments;
  shown.Set("--format", {"table"});
  SL_RETURN_IF_ERROR(PrintTable(analysis::AdvisorSummary(report, language), shown,
                                analysis::Render(analysis::Message{"advisor.nothing"}, language)));
  SL_ASSIGN_OR_RETURN(
      const std::vector<std::string> paths,
      WriteAdvisorReports(report, formats, language, arguments.Value("--output_path")));
  for (const analysis::Blindness& blind : report.blind)
    Say(fmt::format("steplens: {}\n", analysis::Render(blind.text, language)));
  for (const std::string& path : paths) Say(fmt::format("steplens: wrote {}\n", path));
  return {};
}

// What the options ask of an opened job.
Result<int> Advise(const Arguments& arguments, const store::Job& job,
                   analysis::AdvisorOptions options, const std::set<std::string>& formats) {
  SL_ASSIGN_OR_RETURN(options.selection, SelectionOf(arguments, job));
  SL_ASSIGN_OR_RETURN(options.ranks, RanksOf(arguments, job));
  options.graphs = ReadGraphDumps(job);
  SL_ASSIGN_OR_RETURN(AdvisorReport report, analysis::RunAdvisor(job, options));
  const int64_t top = arguments.Integer("--top").value_or(0);
  if (top > 0 && report.findings.size() > static_cast<size_t>(top))
    report.findings.resize(static_cast<size_t>(top));
  const analysis::Language language = LanguageOf(arguments);
  SL_RETURN_IF_ERROR(SayReport(report, arguments, formats, language));
  for (const analysis::Message& warning : report.warnings)
    Say(fmt::format("steplens: {}\n", analysis::Render(warning, language)));
  const bool fails =
      arguments.Has("--fail-on") && HasPriority(report, arguments.Value("--fail-on"));
  return fails ? kFoundExitCode : 0;
}

Result<int> OpenAndAdvise(const Arguments& arguments, const std::string& path,
                          const std::string& benchmark, analysis::AdvisorOptions options,
                          const std::set<std::string>& formats) {
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenFor(arguments, path));
  if (benchmark.empty()) return Advise(arguments, job, std::move(options), formats);
  SL_ASSIGN_OR_RETURN(const store::Job baseline, OpenFor(arguments, benchmark));
  if ((job.ranks.size() > 1) != (baseline.ranks.size() > 1)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{} has {} and {} has {}: both must be one rank, or both several",
                             path, job.ranks.size(), benchmark, baseline.ranks.size())};
  }
  options.baseline = &baseline;
  return Advise(arguments, job, std::move(options), formats);
}

// Usage errors have exit code 2; whatever the data are to blame for has 1, as 3 means --fail-on.
Result<int> RunAdvisorCommand(const Arguments& arguments) {
  const std::string dimension = arguments.Positional("DIMENSION").front();
  if (dimension == "rules") return RunAdvisorRules(arguments);
  SL_ASSIGN_OR_RETURN(const std::set<std::string> formats, FormatsOf(arguments));
  analysis::AdvisorOptions options;
  if (dimension == "computation") options.dimension = analysis::AdviceDimension::kComputation;
  if (dimension == "schedule") options.dimension = analysis::AdviceDimension::kSchedule;
  options.only = NamesInList(arguments.Value("--only"));
  options.skip = NamesInList(arguments.Value("--skip"));
  options.compares = !ForbidsComparison();
  SL_ASSIGN_OR_RETURN(options.settings, ReadRuleSettings(arguments));
  SL_ASSIGN_OR_RETURN(const std::string path, PathOf(arguments, "--profiling_path"));
  if (path.empty())
    return Error{ErrorCode::kInvalidArgument, "--profiling_path (-d) names the capture"};
  SL_ASSIGN_OR_RETURN(const std::string benchmark, PathOf(arguments, "--benchmark_profiling_path"));
  Result<int> done = OpenAndAdvise(arguments, path, benchmark, std::move(options), formats);
  if (done.ok() || done.error().code == ErrorCode::kInvalidArgument ||
      done.error().code == ErrorCode::kCancelled) {
    return done;
  }
  Say(fmt::format("steplens: {}\n", done.error().message));
  return kUnusableExitCode;
}

}  // namespace

CommandSpec AdvisorCommand() {
  CommandSpec spec;
  spec.summary = "What to change, and what a replay says it saves";
  spec.description =
      "Runs the rules over a capture and prints what to change, the largest saving first: the "
      "milliseconds per step by a replay of the recorded step where a rule can say its change, a "
      "bound elsewhere. all: every rule; computation, schedule: those about kernels or about the "
      "host; rules: lists the rules and checks rule files. docs/advisor.md explains them.";
  spec.positionals = {{.name = "DIMENSION",
                       .help = "Which rules",
                       .is_path = false,
                       .choices = {"all", "computation", "schedule", "rules"}}};
  spec.options = AdvisorOptionSpecs();
  spec.example = "steplens advisor all -d examples/sample --format none";
  spec.run = RunAdvisorCommand;
  return spec;
}

}  // namespace steplens::cli
