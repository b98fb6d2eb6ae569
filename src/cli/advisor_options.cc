#include "cli/advisor_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "analysis/advice/rule.h"
#include "analysis/advice/rule_file.h"
#include "base/file.h"
#include "base/nearest_name.h"
#include "base/number.h"
#include "cli/open_input.h"
#include "cli/standard_streams.h"
#include "table/console.h"

namespace steplens::cli {
namespace {

namespace fs = std::filesystem;
using analysis::RuleSettings;

// STEPLENS_<name>, else <name>; empty if neither is set.
std::string AdvisorVariable(const std::string& name) {
  for (const std::string& one : {"STEPLENS_" + name, name}) {
    if (const char* value = std::getenv(one.c_str())) return value;
  }
  return {};
}

Result<bool> SwitchOf(const std::string& name) {
  std::string value = AdvisorVariable(name);
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (value.empty() || value == "false") return false;
  if (value == "true") return true;
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{}: '{}' was found, true or false was expected", name, value)};
}

// The file of that name below a folder, at most ten folders deep; the first by name.
std::string FindBelow(const fs::path& folder, const std::string& suffix, bool whole_name,
                      std::vector<std::string>* all = nullptr) {
  constexpr int kMostFolders = 10;
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at.depth() >= kMostFolders) at.disable_recursion_pending();
    const std::string name = at->path().filename().string();
    const bool fits = whole_name ? name == suffix : name.ends_with(suffix);
    if (fits && at->is_regular_file(error)) found.push_back(at->path().string());
  }
  std::sort(found.begin(), found.end());
  if (all != nullptr) *all = found;
  return found.empty() ? "" : found.front();
}

Status AddFile(const std::string& path, RuleSettings& settings) {
  const Result<std::string> text = ReadFile(path);
  // Whatever is wrong with a file that an option names is wrong usage.
  if (!text.ok()) return Error{ErrorCode::kInvalidArgument, text.error().message};
  return analysis::AddRuleFile(*text, path, settings);
}

// Affinity rules of the reference's tools: where its variable says, else where it looks for them.
Status AddAffinityFile(RuleSettings& settings) {
  constexpr const char* kFile = "timeline_fusion_ops.yaml";
  std::string path;
  if (const std::string folder = AdvisorVariable("ADVISOR_RULE_PATH"); !folder.empty()) {
    path = FindBelow(folder, kFile, true);
    if (path.empty()) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("ADVISOR_RULE_PATH: there is no {} below {}", kFile, folder)};
    }
  } else if (const char* home = std::getenv("HOME")) {
    const fs::path usual = fs::path(home) / "rules/cloud" / kFile;
    std::error_code error;
    if (fs::is_regular_file(usual, error)) path = usual.string();
  }
  if (path.empty()) return {};
  settings.replaces_affinity = true;
  return AddFile(path, settings);
}

Status AddEnvironment(RuleSettings& settings) {
  SL_RETURN_IF_ERROR(AddAffinityFile(settings));
  SL_ASSIGN_OR_RETURN(const bool no_affinity, SwitchOf("DISABLE_AFFINITY_API"));
  if (no_affinity) settings.disabled.insert({"affinity_api", "affinity_optimizer"});
  if (const std::string gap = AdvisorVariable("FREE_DURATION_FOR_GC_ANALYSIS"); !gap.empty()) {
    const auto us = ParseDouble(gap);
    if (!us || *us < 0) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("FREE_DURATION_FOR_GC_ANALYSIS: '{}' was found, microseconds were "
                               "expected",
                               gap)};
    }
    settings.thresholds.conjectured_gc_gap_us = *us;
  }
  const std::string level = AdvisorVariable("MSPROF_ANALYZE_LOG_LEVEL");
  const std::vector<std::string> levels = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
  if (!level.empty() && std::find(levels.begin(), levels.end(), level) == levels.end()) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("MSPROF_ANALYZE_LOG_LEVEL: '{}' was found; DEBUG, INFO, WARNING, ERROR "
                    "or CRITICAL was expected",
                    level)};
  }
  return {};
}

std::string RuleLine(const analysis::RuleSpec& rule) {
  return analysis::Render(analysis::Message{fmt::format("rule.{}", rule.name)},
                          analysis::Language::kEnglish);
}

Result<int> ShowRule(const std::string& name) {
  std::vector<std::string> known;
  for (const analysis::RuleSpec& rule : analysis::Rules()) known.emplace_back(rule.name);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("there is no rule '{}'{}", name, DidYouMean(name, known))};
  }
  std::string out = fmt::format("{}:\n  enabled: true\n", name);
  bool has_any = false;
  for (const analysis::ThresholdSpec& spec : analysis::ThresholdSpecs()) {
    if (spec.rule != name) continue;
    if (!has_any) out += "  thresholds:\n";
    has_any = true;
    out += fmt::format("    {}: {}  # {}\n", spec.name, FormatDouble(spec.value), spec.meaning);
  }
  SL_RETURN_IF_ERROR(PrintResult(out));
  return 0;
}

// For completion.
std::vector<std::string> AdvisorRuleNames() {
  std::vector<std::string> names;
  for (const analysis::RuleSpec& rule : analysis::Rules()) names.emplace_back(rule.name);
  return names;
}

}  // namespace

std::set<std::string> NamesInList(const std::string& list) {
  std::set<std::string> out;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (!word.empty()) out.insert(word);
  }
  return out;
}

namespace {

// A number above 0 times `unit`; 0 without the option.
Result<double> PeakOf(const Arguments& arguments, const std::string& option, double unit) {
  const std::string text = arguments.Value(option);
  if (text.empty()) return 0.0;
  constexpr double kMost = 1e9;
  const auto number = ParseDouble(text);
  if (!number || !(*number > 0) || *number > kMost) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: '{}' was found, a number above 0 was expected", option, text)};
  }
  return *number * unit;
}

}  // namespace

Result<RuleSettings> ReadRuleSettings(const Arguments& arguments) {
  RuleSettings settings;
  SL_ASSIGN_OR_RETURN(settings.peak_flops_per_s, PeakOf(arguments, "--peak-tflops", 1e12));
  SL_ASSIGN_OR_RETURN(settings.bytes_per_s, PeakOf(arguments, "--hbm-gbs", 1e9));
  settings.as_reference = arguments.Value("--ruleset") == "reference";
  SL_RETURN_IF_ERROR(AddEnvironment(settings));
  for (const std::string& path : NamesInList(arguments.Value("--rules")))
    SL_RETURN_IF_ERROR(AddFile(path, settings));
  return settings;
}

bool ForbidsComparison() {
  const Result<bool> forbids = SwitchOf("DISABLE_PROFILING_COMPARISON");
  return forbids.ok() && *forbids;
}

std::vector<analysis::AdviceContext::GraphDump> ReadGraphDumps(const store::Job& job) {
  std::string suffix = AdvisorVariable("ATT_ADVISOR_GRAPH_FILE");
  if (suffix.empty()) suffix = "Build.txt";
  std::vector<analysis::AdviceContext::GraphDump> out;
  for (const store::TraceStore& rank : job.ranks) {
    std::error_code error;
    if (!fs::is_directory(rank.info.path, error)) continue;
    std::vector<std::string> paths;
    FindBelow(rank.info.path, suffix, false, &paths);
    for (const std::string& path : paths) {
      Result<std::string> text = ReadFile(path);
      if (!text.ok()) {
        Say(fmt::format("steplens: {}\n", text.error().message));
        continue;
      }
      out.push_back({rank.info.rank, fs::path(path).filename().string(), std::move(*text)});
    }
  }
  return out;
}

Result<int> RunAdvisorRules(const Arguments& arguments) {
  if (const std::string name = arguments.Value("--show"); !name.empty()) return ShowRule(name);
  if (const std::string path = arguments.Value("--check"); !path.empty()) {
    RuleSettings settings;
    SL_RETURN_IF_ERROR(AddFile(path, settings));
    SL_RETURN_IF_ERROR(PrintResult(fmt::format("{}: no mistakes\n", path)));
    return 0;
  }
  table::Table list("rules");
  for (const char* column : {"rule", "finds", "threshold"})
    list.AddColumn(column, table::CellType::kText);
  list.AddColumn("default", table::CellType::kDouble, 4);
  list.AddColumn("meaning", table::CellType::kText);
  for (const analysis::RuleSpec& rule : analysis::Rules()) {
    bool has_any = false;
    for (const analysis::ThresholdSpec& spec : analysis::ThresholdSpecs()) {
      if (spec.rule != rule.name) continue;
      has_any = true;
      list.AppendText(0, rule.name);
      list.AppendText(1, RuleLine(rule));
      list.AppendText(2, spec.name);
      list.AppendDouble(3, spec.value);
      list.AppendText(4, spec.meaning);
    }
    if (has_any) continue;
    list.AppendText(0, rule.name);
    list.AppendText(1, RuleLine(rule));
    list.AppendText(2, "");
    list.AppendDouble(3, std::nan(""));
    list.AppendText(4, "");
  }
  Arguments shown = arguments;
  shown.Set("--format", {"table"});
  SL_RETURN_IF_ERROR(PrintTable(list, shown));
  return 0;
}

std::vector<OptionSpec> AdvisorOptionSpecs() {
  return Joined(
      {{.name = "--profiling_path",
        .value_name = "PATH",
        .help = "The capture: a rank's folder, a file, or a folder of ranks",
        .short_name = "-d"},
       {.name = "--benchmark_profiling_path",
        .value_name = "PATH",
        .help = "A capture to compare with: kernels and host operators of each rank",
        .short_name = "-bp"},
       {.name = "--output_path",
        .value_name = "DIR",
        .help = "Where reports go",
        .default_value = ".",
        .short_name = "-o"},
       {.name = "--language",
        .value_name = "LANG",
        .help = "Language of texts; auto: that of LANG",
        .default_value = "en",
        .choices = {"cn", "zh", "en", "auto"},
        .short_name = "-l"},
       {.name = "--format",
        .value_name = "LIST",
        .help = "Reports to write beside the table: html, xlsx, md, json, none",
        .default_value = "html,xlsx",
        .suggestions = {"html", "xlsx", "md", "json", "none"}},
       {.name = "--agent", .help = "Same as --json"},
       {.name = "--only",
        .value_name = "RULES",
        .help = "Only these rules, with commas between",
        .suggestions = AdvisorRuleNames()},
       {.name = "--skip",
        .value_name = "RULES",
        .help = "Not these rules",
        .suggestions = AdvisorRuleNames()},
       {.name = "--rules",
        .value_name = "FILE",
        .help = "Thresholds and tables of rules from this file (docs/advisor.md)"},
       {.name = "--ruleset",
        .value_name = "SET",
        .help = "reference: judge as msprof-analyze does",
        .default_value = "default",
        .choices = {"reference", "default"}},
       {.name = "--peak-tflops",
        .value_name = "T",
        .help = "TFLOP/s that the device can do at most, where its name does not say it"},
       {.name = "--hbm-gbs",
        .value_name = "G",
        .help = "GB/s of the device's memory, where its name does not say it"},
       {.name = "--fail-on",
        .value_name = "PRIORITY",
        .help = "Exit with 3 if there is a finding of at least this priority",
        .choices = {"high", "medium", "low"}},
       {.name = "--top",
        .value_name = "N",
        .help = "Only the first N findings",
        .is_integer = true},
       {.name = "--rank", .value_name = "R", .help = "Only this rank", .is_integer = true},
       {.name = "--ranks", .value_name = "LIST", .help = "Only these ranks, with commas between"},
       {.name = "--step", .value_name = "S", .help = "Replay only this step", .is_integer = true},
       {.name = "--list", .help = "rules: list all rules and thresholds"},
       {.name = "--show",
        .value_name = "RULE",
        .help = "rules: print a rule as a rule file",
        .suggestions = AdvisorRuleNames()},
       {.name = "--check", .value_name = "FILE", .help = "rules: look for mistakes in a rule file"},
       {.name = "--cann_version",
        .value_name = "VERSION",
        .help = "Taken for compatibility; rules do not depend on it",
        .default_value = "auto",
        .choices = {"auto", "6.3.RC2", "7.0.RC1", "7.0.0", "8.0.RC1", "8.0.RC2", "8.0.0"},
        .short_name = "-cv"},
       {.name = "--torch_version",
        .value_name = "VERSION",
        .help = "Taken for compatibility; rules do not depend on it",
        .default_value = "2.1.0",
        .choices = {"1.11.0", "2.1.0"},
        .short_name = "-tv"},
       {.name = "--profiling_type",
        .value_name = "TYPE",
        .help = "Taken for compatibility; the capture says what it is",
        .default_value = "pytorch",
        .choices = {"pytorch", "mslite", "msprof", "mindspore"},
        .short_name = "-pt"},
       {.name = "--force", .help = "Taken for compatibility; files are never refused"},
       {.name = "--debug", .help = "Taken for compatibility"}},
      Joined(TableOptions(), InputOptions()));
}

}  // namespace steplens::cli
