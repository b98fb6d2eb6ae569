#include "cli/commands.h"

namespace steplens::cli {

const std::vector<CommandSpec>& Commands() {
  static const std::vector<CommandSpec> kCommands = {
      RecordCommand(),  AnalyseCommand(),    InfoCommand(),    BreakdownCommand(), OpsCommand(),
      QueryCommand(),   VerifyCommand(),     ClusterCommand(), ViewCommand(),      LinkCommand(),
      ConvertCommand(), CompletionCommand(), DocsCommand()};
  return kCommands;
}

}  // namespace steplens::cli
