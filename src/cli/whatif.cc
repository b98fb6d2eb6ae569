#include "analysis/whatif/whatif_answer.h"

#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/replay_output.h"

namespace steplens::cli {
namespace {

Result<int> RunWhatIf(const Arguments& arguments) {
  analysis::EditTexts texts;
  texts.scale = arguments.Values("--scale");
  texts.remove = arguments.Values("--remove");
  texts.overlap = arguments.Values("--overlap");
  texts.network = arguments.Value("--network");
  texts.host = arguments.Value("--host");
  texts.balance = arguments.Value("--balance");
  SL_ASSIGN_OR_RETURN(std::vector<analysis::Edit> edits, analysis::ParseEdits(texts));
  if (edits.empty()) edits = analysis::UsualEdits();
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(arguments));
  SL_ASSIGN_OR_RETURN(const analysis::Selection selection, SelectionOf(arguments, job));
  const std::vector<analysis::RankView> ranks = analysis::ViewsOf(job, selection);
  const analysis::StepReplay replay(job, ranks, selection.step);
  SL_RETURN_IF_ERROR(PrintReplay(replay, analysis::WhatIfTables(replay, edits), arguments));
  return 0;
}

}  // namespace

CommandSpec WhatIfCommand() {
  CommandSpec spec;
  spec.summary = "How long a step would take after a change";
  spec.description =
      "Replays the recorded step with some of its parts changed, each change by itself and all "
      "together, and prints what they save. A PART is kernel, copy, comm, host, launch, sync, wait "
      "(for other ranks), idle or dataloader; PART:PATTERN means those whose name matches, "
      "PART@RANK those of one rank. Without a change, the usual ones are tried. docs/whatif.md "
      "explains the replay and how far to trust it.";
  spec.positionals = {PathPositional(true)};
  spec.options =
      Joined({{.name = "--scale",
               .value_name = "PART=FACTOR",
               .help = "The part takes FACTOR times as long; may be repeated",
               .is_repeated = true},
              {.name = "--remove",
               .value_name = "PART",
               .help = "The part takes no time, and nobody waits for it; may be repeated",
               .is_repeated = true},
              {.name = "--overlap",
               .value_name = "PART",
               .help = "Computing does not wait for the part (comm, copy); may be repeated",
               .is_repeated = true,
               .suggestions = {"comm", "copy"}},
              {.name = "--network",
               .value_name = "N",
               .help = "Collectives transfer N times as fast (2x)"},
              {.name = "--host", .value_name = "N", .help = "The host is N times as fast (2x)"},
              {.name = "--balance",
               .value_name = "WHAT",
               .help = "ranks: every rank computes as long as the average one",
               .choices = {"ranks"}}},
             Joined(ReplayOptions({"whatif", "replay"}), Joined(TableOptions(), InputOptions())));
  spec.example = "steplens whatif examples/sample --scale 'kernel:MatMul*=0.5' --network 2x";
  spec.run = RunWhatIf;
  return spec;
}

}  // namespace steplens::cli
