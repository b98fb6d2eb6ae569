#include "cli/commands.h"

namespace steplens::cli {

const std::vector<CommandSpec>& Commands() {
  static const std::vector<CommandSpec> kCommands = {
      InfoCommand(),    BreakdownCommand(), OpsCommand(),        QueryCommand(), VerifyCommand(),
      ClusterCommand(), ViewCommand(),      CompletionCommand(), DocsCommand()};
  return kCommands;
}

}  // namespace steplens::cli
