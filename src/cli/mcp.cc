#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "base/allocator.h"
#include "base/cancel.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/version.h"
#include "mcp/session.h"
#include "mcp/stdio.h"

namespace steplens::cli {
namespace {

Result<int> RunMcp(const Arguments& arguments) {
  mcp::Session::Options options;
  options.captures.version = kVersion;
  options.captures.use_cache = !arguments.Has("--no-cache");
  options.captures.roots = arguments.Values("--root");
  if (options.captures.roots.empty()) options.captures.roots.emplace_back(".");
  if (Status checked = server::Workspace::CheckRoots(options.captures.roots); !checked.ok())
    return std::move(checked).error().During("mcp: --root");
  const int64_t seconds = arguments.Integer("--timeout").value_or(60);
  if (seconds < 1 || seconds > 3600) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("mcp: --timeout {}: not between 1 and 3600 seconds", seconds)};
  }
  options.time_limit = std::chrono::seconds(seconds);
  if (options.captures.use_cache) SayIfCacheIsNotUsed();
  UseLargePages();
  std::signal(SIGTERM, [](int) { RequestCancel(); });
  std::signal(SIGPIPE, SIG_IGN);
  mcp::Session session(std::move(options));
  SL_RETURN_IF_ERROR(mcp::ServeLines(session, STDIN_FILENO, STDOUT_FILENO));
  return 0;
}

}  // namespace

CommandSpec McpCommand() {
  CommandSpec spec;
  spec.summary = "Answer an agent's questions about captures (Model Context Protocol)";
  spec.description =
      "A server of the Model Context Protocol over stdin and stdout, one JSON-RPC message per "
      "line: "
      "tools to open a capture, list findings, break a step down, run SQL, explain a slice or a "
      "gap, ask cluster questions and compare runs; resources explain them. It only reads, and "
      "only below --root. docs/mcp.md and docs/agents.md describe it.";
  spec.options = {
      {.name = "--root",
       .value_name = "DIR",
       .help = "Folder with the captures that may be opened; may be repeated. Default: the current "
               "folder",
       .is_repeated = true},
      {.name = "--timeout",
       .value_name = "SECONDS",
       .help = "Time limit of one call",
       .default_value = "60",
       .is_integer = true},
      {.name = "--no-cache", .help = "Neither read nor write the cache"},
      FollowLinksOption(),
  };
  spec.example = "steplens mcp --help";
  spec.run = RunMcp;
  return spec;
}

}  // namespace steplens::cli
