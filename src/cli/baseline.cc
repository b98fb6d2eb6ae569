#include "cluster/baselines.h"

#include <fmt/format.h>

#include "analysis/cells.h"
#include "analysis/compare/runs/gate_trial.h"
#include "analysis/compare/runs/run_tables.h"
#include "base/roots.h"
#include "base/team.h"
#include "base/thread_pool.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/run_comparison.h"
#include "cli/standard_streams.h"
#include "cluster/run_summaries.h"

namespace steplens::cli {
namespace {

namespace runs = analysis::runs;
using analysis::runs::RunSummary;
using cluster::Baselines;

Error UsageOf(std::string_view action, std::string_view expected) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("baseline {0}: 'baseline {0} {1}' was expected", action, expected)};
}

Result<int> SaveBaseline(const Arguments& arguments, const Baselines& baselines,
                         const std::string& name, const std::string& path) {
  SL_ASSIGN_OR_RETURN(const size_t threads, ThreadsOf(arguments));
  AddRoot(path);
  ThreadPool pool(threads);
  SL_ASSIGN_OR_RETURN(const std::unique_ptr<Team> team, MakeTeam(pool));
  SL_ASSIGN_OR_RETURN(
      const cluster::SummarisedRun run,
      cluster::SummariseRun(*team, pool, path,
                            {.use_cache = !arguments.Has("--no-cache"), .show_progress = true}));
  if (!team->is_root()) return 0;
  for (const std::string& note : run.notes) Say(fmt::format("steplens: {}\n", note));
  if (run.failed > 0 && arguments.Has("--strict")) {
    return Error{ErrorCode::kCorruptData,
                 fmt::format("--strict: {} of the ranks below {} could not be used, or not wholly",
                             run.failed, path)};
  }
  SL_ASSIGN_OR_RETURN(const std::string file, baselines.Save(name, run.summary));
  SL_RETURN_IF_ERROR(PrintResult(fmt::format("{}: {} {}, {} {}\n", file, run.summary.ranks.size(),
                                             run.summary.ranks.size() == 1 ? "rank" : "ranks",
                                             run.summary.steps.size(),
                                             run.summary.steps.size() == 1 ? "step" : "steps")));
  return 0;
}

Result<int> ListBaselines(const Arguments& arguments, const Baselines& baselines) {
  SL_ASSIGN_OR_RETURN(const std::vector<Baselines::Entry> entries, baselines.List());
  analysis::TableRows rows(
      "baselines",
      {analysis::TextColumn("Name"), analysis::IntColumn("Ranks"), analysis::IntColumn("Steps"),
       analysis::NumberColumn("Size(KB)", 1), analysis::TextColumn("Made Of")});
  for (const Baselines::Entry& entry : entries) {
    const Result<RunSummary> run = baselines.Load(entry.name);
    if (!run.ok()) {
      Say(fmt::format("steplens: {}\n", run.error().message));
      continue;
    }
    rows.Add(entry.name, static_cast<int64_t>(run->ranks.size()),
             static_cast<int64_t>(run->steps.size()), static_cast<double>(entry.size_bytes) / 1024,
             run->label);
  }
  SL_RETURN_IF_ERROR(PrintTable(rows.Take(), arguments, "baseline list: there is none yet"));
  return 0;
}

// `compare` with the baseline, without sheets; its exit codes.
int CheckRun(const Arguments& arguments, const std::string& folder, const std::string& name,
             const std::string& path) {
  const Result<int> done =
      CompareWholeRuns(arguments, path, std::string(cluster::kBaselinePrefix) + name, folder);
  if (done.ok()) return *done;
  Say(fmt::format("steplens: {}\n", done.error().message));
  return GateExitCode(done.error());
}

// The rules of docs/compare_gate.md, for a trial that names none.
constexpr const char* kUsualRules[] = {"e2e>3%",        "computing>3%", "communication>3%",
                                       "free>3%",       "memory>2%",    "kernel:*>5%",
                                       "operator:*>5%", "comm:*>5%",    "rank:*>5%"};

// What the gate does with steps of an unchanged run.
Result<int> TryBaseline(const Arguments& arguments, const RunSummary& run) {
  SL_ASSIGN_OR_RETURN(const runs::NoiseOptions noise, NoiseOf(arguments));
  SL_ASSIGN_OR_RETURN(std::vector<runs::GateRule> rules, RulesOf(arguments));
  if (rules.empty()) {
    for (const char* text : kUsualRules) {
      SL_ASSIGN_OR_RETURN(runs::GateRule rule, runs::ParseGateRule(text));
      rules.push_back(std::move(rule));
    }
  }
  runs::TrialOptions options;
  const int64_t steps = arguments.Integer("--steps").value_or(0);
  if (steps < 0)
    return Error{ErrorCode::kInvalidArgument, fmt::format("--steps: {} is below 0", steps)};
  options.steps = static_cast<size_t>(steps);
  const runs::GateTrial trial = runs::TryGate(run, rules, noise, options);
  Say(fmt::format("steplens: {} comparisons of {} steps with {} others of the same run\n",
                  trial.comparisons, trial.steps, trial.steps));
  SL_RETURN_IF_ERROR(PrintTable(runs::TrialTable(trial), arguments));
  return 0;
}

Result<int> RunBaseline(const Arguments& arguments) {
  const std::vector<std::string>& names = arguments.Positional("NAME");
  const std::vector<std::string>& paths = arguments.Positional("PATH");
  const std::string& what = arguments.Positional("ACTION").front();
  SL_ASSIGN_OR_RETURN(const std::string folder, cluster::BaselineFolder(arguments.Value("--dir")));
  const Baselines baselines(folder);
  const bool takes_path = what == "save" || what == "check";
  if (!takes_path && !paths.empty()) return UsageOf(what, what == "list" ? "" : "NAME");
  if (what == "list") {
    if (!names.empty()) return UsageOf(what, "");
    return ListBaselines(arguments, baselines);
  }
  if (names.empty() || (takes_path && paths.empty()))
    return UsageOf(what, takes_path ? "NAME PATH" : "NAME");
  if (what == "save") return SaveBaseline(arguments, baselines, names.front(), paths.front());
  if (what == "check") return CheckRun(arguments, folder, names.front(), paths.front());
  if (what == "remove") {
    SL_RETURN_IF_ERROR(baselines.Remove(names.front()));
    return 0;
  }
  SL_ASSIGN_OR_RETURN(const RunSummary run, baselines.Load(names.front()));
  if (what == "noise") return TryBaseline(arguments, run);
  SL_RETURN_IF_ERROR(PrintTable(runs::SummaryTable(run), arguments));
  return 0;
}

}  // namespace

CommandSpec BaselineCommand() {
  CommandSpec spec;
  spec.summary = "Keep the small summary of a run to compare later runs with";
  spec.description =
      "'save NAME PATH' keeps what a run is compared by: times of steps, kernels, operators, "
      "modules and communication, some kilobytes without any trace. 'check NAME PATH' compares a "
      "run "
      "with it, and exits with 3 if a "
      "--fail-on rule is breached (docs/compare_gate.md). 'noise NAME' compares steps of the run "
      "with other steps of it: how often rules raise a false alarm, and the smallest change that "
      "they find. 'list', 'show NAME' and 'remove NAME' "
      "manage what is there. Baselines are files in --dir, else $STEPLENS_BASELINE_DIR, else "
      "$XDG_DATA_HOME/steplens/baselines, else ~/.local/share/steplens/baselines.";
  PositionalSpec path = PathPositional(false);
  path.required = false;
  spec.positionals = {
      {.name = "ACTION",
       .help = "What to do",
       .is_path = false,
       .choices = {"save", "check", "noise", "list", "show", "remove"}},
      {.name = "NAME", .help = "Name of the baseline", .required = false, .is_path = false},
      path};
  spec.options = Joined({{.name = "--dir", .value_name = "DIR", .help = "Folder of the baselines"},
                         {.name = "--steps",
                          .value_name = "N",
                          .help = "noise: steps on each side; 0 = half of the run",
                          .default_value = "0",
                          .is_integer = true}},
                        Joined(RunComparisonOptions(), Joined(TableOptions(), InputOptions())));
  spec.example = "steplens baseline save sample examples/sample --dir /tmp/baselines";
  spec.run = RunBaseline;
  return spec;
}

}  // namespace steplens::cli
