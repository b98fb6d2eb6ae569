#include "cli/commands.h"

#include <algorithm>
#include <iterator>

namespace steplens::cli {
namespace {

struct NamedCommand {
  std::string_view name;
  CommandSpec (*make)();
};

constexpr NamedCommand kCommandMakers[] = {{"record", RecordCommand},
                                           {"analyse", AnalyseCommand},
                                           {"info", InfoCommand},
                                           {"breakdown", BreakdownCommand},
                                           {"ops", OpsCommand},
                                           {"ask", AskCommand},
                                           {"query", QueryCommand},
                                           {"verify", VerifyCommand},
                                           {"cluster", ClusterCommand},
                                           {"compare", CompareCommand},
                                           {"baseline", BaselineCommand},
                                           {"view", ViewCommand},
                                           {"link", LinkCommand},
                                           {"convert", ConvertCommand},
                                           {"auto-completion", CompletionCommand},
                                           {"docs", DocsCommand}};

CommandSpec MakeCommand(const NamedCommand& command) {
  CommandSpec spec = command.make();
  spec.name = command.name;
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
