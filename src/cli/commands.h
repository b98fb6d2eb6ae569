#pragma once

#include "cli/command.h"

namespace steplens::cli {

// One function a command, each in the file of its name. All but the name: Commands says that.
CommandSpec RecordCommand();
CommandSpec MsprofCommand();
CommandSpec InfoCommand();
CommandSpec AnalyseCommand();
CommandSpec BreakdownCommand();
CommandSpec OpsCommand();
CommandSpec CriticalPathCommand();
CommandSpec WhatIfCommand();
CommandSpec AdvisorCommand();
CommandSpec AskCommand();
CommandSpec QueryCommand();
CommandSpec VerifyCommand();
CommandSpec ClusterCommand();
CommandSpec BaselineCommand();
CommandSpec ConvertCommand();
CommandSpec CompareCommand();
CommandSpec ViewCommand();
CommandSpec LinkCommand();
CommandSpec McpCommand();
CommandSpec CompletionCommand();
CommandSpec DocsCommand();

}  // namespace steplens::cli
