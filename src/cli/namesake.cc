#include "cli/namesake.h"

#include <algorithm>
#include <array>

#include "cli/shell_protocol.h"
#include "cli/standard_streams.h"

namespace steplens::cli {
namespace {

constexpr std::array<std::string_view, 4> kAnalyzeCommands = {"cluster", "compare", "advisor",
                                                              "auto-completion"};
constexpr std::array<std::string_view, 1> kMsprofCommands = {"msprof"};
constexpr std::array<Namesake, 2> kNamesakes = {
    Namesake{"msprof-analyze", "", kAnalyzeCommands},
    Namesake{"msprof", "msprof", kMsprofCommands},
};

bool IsHelp(const std::string& word) {
  constexpr std::array<std::string_view, 6> kNames = {"-h", "-H", "--help",
                                                      "-V", "-v", "--version"};
  return std::find(kNames.begin(), kNames.end(), word) != kNames.end();
}

}  // namespace

const Namesake* FindNamesake(std::string_view argv0) {
  const std::string_view name = argv0.substr(argv0.rfind('/') + 1);
  const auto* const found = std::find_if(kNamesakes.begin(), kNamesakes.end(),
                                         [&](const Namesake& one) { return one.name == name; });
  return found == kNamesakes.end() ? nullptr : found;
}

std::vector<std::string> WordsOf(const Namesake& namesake, std::vector<std::string> words) {
  if (!namesake.command.empty()) {
    if (words.empty()) words.emplace_back("--help");
    words.insert(words.begin(), std::string(namesake.command));
    return words;
  }
  // Without a command anywhere, and unless help is asked for, the default command is meant.
  const bool is_named = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return IsHelp(word) || std::find(namesake.commands.begin(), namesake.commands.end(), word) !=
                               namesake.commands.end();
  });
  if (!words.empty() && !is_named) words.insert(words.begin(), std::string(kDefaultCommand));
  return words;
}

std::vector<CommandSpec> CommandsOf(const Namesake& namesake) {
  std::vector<CommandSpec> out;
  for (const std::string_view name : namesake.commands) {
    std::vector<CommandSpec> found = CommandsFor(name);
    CommandSpec& spec = out.emplace_back(std::move(found.front()));
    // Its texts are Chinese unless English is asked for.
    for (OptionSpec& option : spec.options) {
      if (spec.name == "advisor" && option.name == "--language") option.default_value = "cn";
    }
    // It prints the line that switches completion on, not the script.
    if (spec.name == "auto-completion") {
      spec.run = [&namesake](const Arguments& arguments) -> Result<int> {
        const std::vector<std::string>& shell = arguments.Positional("SHELL");
        SL_RETURN_IF_ERROR(
            PrintResult(ActivationText(namesake, shell.empty() ? "bash" : shell.front())));
        return 0;
      };
    }
  }
  return out;
}

}  // namespace steplens::cli
