#include "cli/commands.h"

#include <algorithm>
#include <iterator>

#include "cli/limits.h"
#include "cli/open_input.h"

namespace steplens::cli {
namespace {

struct NamedCommand {
  std::string_view name;
  CommandSpec (*make)();
  bool reads_captures = true;
};

// clang-format off: one command per line
constexpr NamedCommand kCommandMakers[] = {
    {"record", RecordCommand, false},
    {"analyse", AnalyseCommand},
    {"msprof", MsprofCommand},
    {"info", InfoCommand},
    {"breakdown", BreakdownCommand},
    {"ops", OpsCommand},
    {"critical-path", CriticalPathCommand},
    {"whatif", WhatIfCommand},
    {"advisor", AdvisorCommand},
    {"ask", AskCommand},
    {"query", QueryCommand},
    {"verify", VerifyCommand},
    {"compare", CompareCommand},
    {"cluster", ClusterCommand},
    {"baseline", BaselineCommand},
    {"view", ViewCommand},
    {"link", LinkCommand, false},
    {"mcp", McpCommand},
    {"convert", ConvertCommand},
    {"auto-completion", CompletionCommand, false},
    {"docs", DocsCommand, false},
};
// clang-format on

CommandSpec MakeCommand(const NamedCommand& command) {
  CommandSpec spec = command.make();
  spec.name = command.name;
  if (command.reads_captures) spec.options = Joined(std::move(spec.options), LimitOptions());
  return spec;
}

}  // namespace

const std::vector<CommandSpec>& Commands() {
  static const std::vector<CommandSpec> kCommands = [] {
    std::vector<CommandSpec> commands;
    for (const NamedCommand& command : kCommandMakers) commands.push_back(MakeCommand(command));
    return commands;
  }();
  return kCommands;
}

std::vector<CommandSpec> CommandsFor(std::string_view word) {
  const auto* const named = std::find_if(std::begin(kCommandMakers), std::end(kCommandMakers),
                                         [&](const auto& command) { return command.name == word; });
  return named == std::end(kCommandMakers) ? Commands() : std::vector{MakeCommand(*named)};
}

}  // namespace steplens::cli
