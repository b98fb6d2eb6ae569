#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/replay_output.h"

namespace steplens::cli {
namespace {

Result<int> RunCriticalPath(const Arguments& arguments) {
  SL_ASSIGN_OR_RETURN(const size_t top, TopOf(arguments));
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(arguments));
  SL_ASSIGN_OR_RETURN(const analysis::Selection selection, SelectionOf(arguments, job));
  const std::vector<analysis::RankView> ranks = analysis::ViewsOf(job, selection);
  const analysis::StepReplay replay(job, ranks, selection.step);
  SL_RETURN_IF_ERROR(PrintReplay(replay, analysis::CriticalPathTables(replay, top), arguments));
  return 0;
}

}  // namespace

CommandSpec CriticalPathCommand() {
  CommandSpec spec;
  spec.summary = "The chain of work that decides how long a step takes";
  spec.description =
      "Builds the graph of what each operator, launch, task, copy, collective and wait depended "
      "on, and follows it back from the end of the step. Prints what the path is spent with, its "
      "largest parts with their place in the code, its longest stretches on one thread or stream, "
      "and the longest work beside it with its slack. docs/whatif.md explains the graph.";
  spec.positionals = {PathPositional(true)};
  spec.options = Joined(ReplayOptions({"critical_path", "parts", "chains", "slack"}),
                        Joined(TableOptions(), InputOptions()));
  spec.example = "steplens critical-path examples/sample --top 5";
  spec.run = RunCriticalPath;
  return spec;
}

}  // namespace steplens::cli
