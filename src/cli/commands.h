#pragma once

#include "cli/command.h"

namespace steplens::cli {

// One function a command, each in the file of its name.
CommandSpec InfoCommand();
CommandSpec BreakdownCommand();
CommandSpec OpsCommand();
CommandSpec QueryCommand();
CommandSpec VerifyCommand();
CommandSpec ClusterCommand();
CommandSpec ViewCommand();
CommandSpec CompletionCommand();
CommandSpec DocsCommand();

}  // namespace steplens::cli
