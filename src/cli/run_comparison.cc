#include "cli/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/compare/report/compare_report.h"
#include "analysis/compare/runs/gate.h"
#include "analysis/compare/runs/gate_reports.h"
#include "analysis/compare/runs/run_tables.h"
#include "base/file.h"
#include "base/number.h"
#include "base/roots.h"
#include "base/team.h"
#include "base/thread_pool.h"
#include "cli/compare_options.h"
#include "cli/open_input.h"
#include "cli/standard_streams.h"
#include "cli/terminal.h"
#include "cluster/baselines.h"
#include "cluster/ranks.h"
#include "cluster/run_summaries.h"
#include "table/console.h"

namespace steplens::cli {
namespace {

namespace runs = analysis::runs;

constexpr int kExitGate = 3;
constexpr size_t kShownRows = 10;

Result<double> ShareOption(const Arguments& arguments, std::string_view option, double most) {
  const std::string value = arguments.Value(option);
  std::string_view text = value;
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  const std::optional<double> number = ParseDouble(text);
  const double share = number ? *number * (is_percent ? 0.01 : 1) : -1;
  if (share > 0 && share <= most) return share;
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{}: '{}' is not above 0 and at most {}%; a share such as 1% was "
                           "expected",
                           option, value, most * 100)};
}

// One side: a baseline, or the ranks below a path.
Result<cluster::SummarisedRun> ReadSide(Team& team, ThreadPool& pool, const Arguments& arguments,
                                        const std::string& path,
                                        const std::string& baseline_folder) {
  if (!IsBaseline(path)) {
    AddRoot(path);
    return cluster::SummariseRun(
        team, pool, path, {.use_cache = !arguments.Has("--no-cache"), .show_progress = true});
  }
  SL_ASSIGN_OR_RETURN(const std::string folder, cluster::BaselineFolder(baseline_folder));
  cluster::SummarisedRun out;
  SL_ASSIGN_OR_RETURN(
      out.summary, cluster::Baselines(folder).Load(path.substr(cluster::kBaselinePrefix.size())));
  return out;
}

// What fits a terminal: the whole is in the reports.
table::Table Narrowed(const table::Table& table) {
  constexpr std::string_view kLeftOut[] = {"Low", "High", "p"};
  table::Table out(table.name());
  for (const table::Column& column : table.columns()) {
    if (std::find(std::begin(kLeftOut), std::end(kLeftOut), column.name) == std::end(kLeftOut))
      out.AddColumn(column);
  }
  return out;
}

// The first rows of a table under its title.
std::string ShownTable(const table::Table& table, const analysis::Message& title,
                       analysis::Language language) {
  if (table.rows() == 0) return {};
  table::Table shown = Narrowed(table);
  shown.Truncate(kShownRows);
  shown = analysis::compare::InLanguage(shown, language);
  std::string text = fmt::format("\n{}\n{}", Render(title, language),
                                 table::ToConsole(shown, {.width = TerminalWidth()}));
  if (!text.ends_with('\n')) text += '\n';
  if (table.rows() > kShownRows) {
    text += Render({"compare.console.some",
                    {{"shown", std::to_string(kShownRows)}, {"all", std::to_string(table.rows())}}},
                   language) +
            "\n";
  }
  return text;
}

std::string RunLine(const char* name, const runs::RunSummary& run, analysis::Language language) {
  return Render({"compare.console.runs",
                 {{"name", name},
                  {"path", run.label},
                  {"ranks", std::to_string(run.ranks.size())},
                  {"steps", std::to_string(run.steps.size())}}},
                language) +
         "\n";
}

analysis::Message PairedByMessage(runs::PairedBy by) {
  switch (by) {
    case runs::PairedBy::kPosition:
      return analysis::Message{"compare.paired.position"};
    case runs::PairedBy::kNumber:
      return analysis::Message{"compare.paired.number"};
    case runs::PairedBy::kRole:
      return analysis::Message{"compare.paired.role"};
  }
  return {};
}

std::string ConsoleText(const std::vector<table::Table>& tables,
                        const runs::RunComparison& comparison, const runs::RunSummary& base,
                        const runs::RunSummary& run, analysis::Language language) {
  const bool is_english = language == analysis::Language::kEnglish;
  std::string text = RunLine(is_english ? "base:" : "基准：", base, language) +
                     RunLine(is_english ? "new: " : "新：", run, language);
  text += ShownTable(tables[0], {"compare.console.step"}, language);
  text += ShownTable(tables[1], {"compare.console.names"}, language);
  text += ShownTable(tables[2],
                     {"compare.console.ranks", {{"by", PairedByMessage(comparison.pairing.by)}}},
                     language);
  text += ShownTable(tables[3], {"compare.console.groups"}, language);
  return text;
}

Status WriteReport(const std::string& path, const std::string& text) {
  if (path.empty()) return {};
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  SL_RETURN_IF_ERROR(file.Write(text.data(), text.size()));
  return file.Commit();
}

void SayAll(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) Say(fmt::format("steplens: {}\n", sentence));
}

int ExitOfGate(const runs::GateOutcome& gate, bool is_strict) {
  if (gate.is_breached()) return kExitGate;
  if (is_strict && gate.Has(runs::RuleState::kNothingMatched)) return 2;
  if (is_strict && gate.Has(runs::RuleState::kUndecided)) return 1;
  return 0;
}

}  // namespace

Result<runs::NoiseOptions> NoiseOf(const Arguments& arguments) {
  runs::NoiseOptions options;
  SL_ASSIGN_OR_RETURN(options.level, ShareOption(arguments, "--noise-level", 0.5));
  SL_ASSIGN_OR_RETURN(options.least_change, ShareOption(arguments, "--least-change", 1));
  return options;
}

Result<std::vector<runs::GateRule>> RulesOf(const Arguments& arguments) {
  std::vector<runs::GateRule> rules;
  for (const std::string& text : arguments.Values("--fail-on")) {
    SL_ASSIGN_OR_RETURN(runs::GateRule rule, runs::ParseGateRule(text));
    rules.push_back(std::move(rule));
  }
  return rules;
}

std::vector<OptionSpec> RunComparisonOptions() {
  return {{.name = "--fail-on",
           .value_name = "RULE",
           .help = "Exit with 3 if the new run is worse than this beyond noise: 'e2e>3%', "
                   "'kernel:MatMul*>5%', 'memory>200MB'; may be repeated (docs/compare_gate.md)",
           .is_repeated = true},
          {.name = "--junit", .value_name = "FILE", .help = "Write the gate as JUnit XML"},
          {.name = "--markdown",
           .value_name = "FILE",
           .help = "Write the comparison of the runs and the gate as Markdown"},
          {.name = "--lang",
           .value_name = "LANG",
           .help = "Language of the console, and the one in which the html report opens",
           .default_value = "en",
           .choices = {"en", "zh"}},
          {.name = "--noise-level",
           .value_name = "SHARE",
           .help = "Share of comparisons of unchanged runs that may raise an alarm",
           .default_value = "1%"},
          {.name = "--least-change",
           .value_name = "SHARE",
           .help = "Smallest change that is called a regression or an improvement",
           .default_value = "1%"}};
}

bool IsBaseline(const std::string& path) { return path.starts_with(cluster::kBaselinePrefix); }

bool HaveManyRanks(const std::string& base, const std::string& path) {
  ThreadPool pool(1);
  const std::unique_ptr<Team> team = MakeLocalTeam(pool);
  const auto has_many = [&](const std::string& of) {
    const Result<cluster::RankSelection> found = cluster::SelectRanks(*team, of, std::nullopt);
    return found.ok() && found->ranks.size() > 1;
  };
  return has_many(base) && has_many(path);
}

bool AsksForRunComparison(const Arguments& arguments, const std::string& base) {
  return IsBaseline(base) || arguments.Has("--fail-on") || arguments.Has("--junit") ||
         arguments.Has("--markdown");
}

int GateExitCode(const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) return 2;
  return error.code == ErrorCode::kCancelled ? 130 : 1;
}

Result<int> CompareWholeRuns(const Arguments& arguments, const std::string& path,
                             const std::string& base_path, const std::string& baseline_folder,
                             std::vector<table::Table>* tables) {
  SL_ASSIGN_OR_RETURN(const runs::NoiseOptions noise, NoiseOf(arguments));
  SL_ASSIGN_OR_RETURN(const std::vector<runs::GateRule> rules, RulesOf(arguments));
  SL_ASSIGN_OR_RETURN(const size_t threads, ThreadsOf(arguments));
  ThreadPool pool(threads);
  SL_ASSIGN_OR_RETURN(const std::unique_ptr<Team> team, MakeTeam(pool));
  SL_ASSIGN_OR_RETURN(const cluster::SummarisedRun base,
                      ReadSide(*team, pool, arguments, base_path, baseline_folder));
  SL_ASSIGN_OR_RETURN(const cluster::SummarisedRun run,
                      ReadSide(*team, pool, arguments, path, baseline_folder));
  if (!team->is_root()) return 0;
  SayAll(base.notes);
  SayAll(run.notes);
  const bool is_strict = arguments.Has("--strict");
  if (is_strict && base.failed + run.failed > 0) {
    return Error{ErrorCode::kCorruptData,
                 fmt::format("--strict: {} of the ranks could not be used, or not wholly",
                             base.failed + run.failed)};
  }
  const runs::RunComparison comparison = runs::CompareRuns(base.summary, run.summary, noise);
  const runs::GateOutcome gate = runs::ApplyGate(base.summary, run.summary, rules, noise);
  std::vector<table::Table> all = runs::ComparisonTables(comparison, base.summary, run.summary);
  SL_RETURN_IF_ERROR(
      PrintResult(ConsoleText(all, comparison, base.summary, run.summary, LanguageOf(arguments))));
  if (tables != nullptr) *tables = std::move(all);
  SayAll(comparison.notes);
  for (const runs::RuleOutcome& rule : gate.rules) SayAll(rule.Lines());
  SL_RETURN_IF_ERROR(
      WriteReport(arguments.Value("--junit"),
                  runs::ToJunit(gate, base.summary.label, run.summary.label, is_strict)));
  SL_RETURN_IF_ERROR(
      WriteReport(arguments.Value("--markdown"),
                  runs::ToMarkdown(gate, comparison, base.summary.label, run.summary.label)));
  return ExitOfGate(gate, is_strict);
}

}  // namespace steplens::cli
