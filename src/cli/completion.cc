#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/standard_streams.h"

namespace steplens::cli {
namespace {

// The commands people type.
std::vector<CommandSpec> Listed() {
  std::vector<CommandSpec> out;
  for (const CommandSpec& command : Commands()) {
    if (!command.is_hidden) out.push_back(command);
  }
  return out;
}

std::string CommandWords() {
  std::string names;
  for (const CommandSpec& command : Listed()) names += (names.empty() ? "" : " ") + command.name;
  return names;
}

std::vector<std::string> NamesOf(const OptionSpec& option) {
  if (option.short_name.empty()) return {option.name};
  return {option.short_name, option.name};
}

std::string OptionWords(const CommandSpec& command) {
  std::string names = "--help --version";
  for (const OptionSpec& option : command.options) names += " " + option.name;
  return names;
}

// What may stand behind an option: one of some words, a file or folder, or anything.
std::string Words(const OptionSpec& option) {
  return fmt::format("{}",
                     fmt::join(option.choices.empty() ? option.suggestions : option.choices, " "));
}

bool TakesPath(const OptionSpec& option) {
  const std::string_view name = option.value_name;
  return name.starts_with("DIR") || name.starts_with("FILE") || name.starts_with("PATH");
}

// Words that may stand where `command` takes a choice: positional choices and suggestions.
std::string PositionalChoices(const CommandSpec& command) {
  std::string words;
  for (const PositionalSpec& positional : command.positionals) {
    for (const auto* list : {&positional.choices, &positional.suggestions}) {
      for (const std::string& word : *list) words += (words.empty() ? "" : " ") + word;
    }
  }
  return words;
}

// Names may hold blanks: one a line.
constexpr std::string_view kBashFiles =
    "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$word\")";

std::string BashWords(const std::string& words) {
  return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))", words);
}

// An option that takes several words: those behind the first are completed as it is.
std::string BashLists() {
  std::string out =
      "  local at=$((COMP_CWORD-1))\n"
      "  while [ $at -gt 1 ] && [[ ${COMP_WORDS[at]} != -* ]]; do at=$((at-1)); done\n"
      "  [[ $word != -* ]] && case \"$command ${COMP_WORDS[at]}\" in\n";
  for (const CommandSpec& command : Listed()) {
    for (const OptionSpec& option : command.options) {
      if (!option.is_list || Words(option).empty()) continue;
      out += fmt::format("    '{} {}') {}; return ;;\n", command.name, option.name,
                         BashWords(Words(option)));
    }
  }
  return out + "  esac\n";
}

std::string Bash() {
  std::string out =
      "_steplens() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
      "command=${COMP_WORDS[1]}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ] && [[ $word != -* ]]; then\n";
  out += fmt::format("    {}\n    return\n  fi\n", BashWords(CommandWords()));
  out += fmt::format("  [[ $command == -* ]] && command={}\n", kDefaultCommand);
  out += "  case \"$command $before\" in\n";
  for (const CommandSpec& command : Listed()) {
    for (const OptionSpec& option : command.options) {
      if (option.value_name.empty()) continue;
      std::string patterns;
      for (const std::string& name : NamesOf(option))
        patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : "|", command.name, name);
      out += fmt::format("    {}) {}; return ;;\n", patterns,
                         TakesPath(option) ? std::string(kBashFiles) : BashWords(Words(option)));
    }
  }
  out += "  esac\n";
  out += BashLists();
  out += "  case \"$command\" in\n";
  for (const CommandSpec& command : Listed()) {
    const std::string words = PositionalChoices(command);
    out += fmt::format(
        "    {})\n      case \"$word\" in\n        -*) {} ;;\n        *) {} ;;\n      esac ;;\n",
        command.name, BashWords(OptionWords(command)),
        words.empty() ? std::string(kBashFiles) : BashWords(words));
  }
  return out + "  esac\n}\ncomplete -F _steplens steplens\n";
}

// zsh and fish show the help next to each word; quotes in it would end the string.
std::string Quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

// Inside the brackets of zsh's _arguments a bracket or colon means something.
std::string ZshHelp(const std::string& text) {
  std::string out;
  for (const char c : Quoted(text)) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return out;
}

// '(-d --path)'{-d,--path}'[help]:DIR:_files'
std::string ZshOption(const OptionSpec& option) {
  std::string out = fmt::format("'{}", option.name);
  if (!option.short_name.empty())
    out = fmt::format("'({0} {1})'{{{0},{1}}}'", option.short_name, option.name);
  out += fmt::format("[{}]", ZshHelp(option.help));
  if (!option.value_name.empty()) {
    out += fmt::format(":{}:", ZshHelp(option.value_name));
    out += TakesPath(option) ? "_files" : fmt::format("({})", Words(option));
  }
  return out + "'";
}

std::string Zsh() {
  std::string out = "#compdef steplens\n_steplens() {\n  local -a commands\n  commands=(\n";
  for (const CommandSpec& command : Listed()) {
    out += fmt::format("    '{}:{}'\n", command.name, Quoted(command.summary));
  }
  out += fmt::format(
      "  )\n  if (( CURRENT == 2 )) && [[ ${{words[2]}} != -* ]]; then\n    _describe command "
      "commands\n    return\n  fi\n  local command=${{words[2]}}\n  [[ $command == -* ]] && "
      "command={}\n  case $command in\n",
      kDefaultCommand);
  for (const CommandSpec& command : Listed()) {
    out +=
        fmt::format("    {})\n      _arguments '--help[Print help]' '--version[Print the version]'",
                    command.name);
    for (const OptionSpec& option : command.options) out += " \\\n        " + ZshOption(option);
    const std::string words = PositionalChoices(command);
    out += words.empty() ? " \\\n        '*:path:_files'"
                         : fmt::format(" \\\n        '*:word:({})'", words);
    out += " ;;\n";
  }
  return out + "  esac\n}\ncompdef _steplens steplens\n";
}

std::string FishOption(const OptionSpec& option, const std::string& when) {
  std::string out = fmt::format("complete -c steplens -n {} -l {}", when, option.name.substr(2));
  if (!option.short_name.empty()) out += " -s " + option.short_name.substr(1);
  out += fmt::format(" -d '{}'", Quoted(option.help));
  if (option.value_name.empty()) return out + '\n';
  return out + (TakesPath(option) ? " -r -F\n" : fmt::format(" -x -a '{}'\n", Words(option)));
}

std::string Fish() {
  std::string out =
      "complete -c steplens -f -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const CommandSpec& command : Listed()) {
    out += fmt::format("complete -c steplens -f -n __fish_use_subcommand -a {} -d '{}'\n",
                       command.name, Quoted(command.summary));
    const std::string when = fmt::format("'__fish_seen_subcommand_from {}'", command.name);
    for (const OptionSpec& option : command.options) {
      out += FishOption(option, when);
      if (command.name == kDefaultCommand) out += FishOption(option, "__fish_use_subcommand");
    }
    if (const std::string words = PositionalChoices(command); !words.empty()) {
      out += fmt::format("complete -c steplens -f -n {} -a '{}'\n", when, words);
    } else {
      out += fmt::format("complete -c steplens -F -n {}\n", when);
    }
  }
  return out;
}

Result<int> RunCompletion(const Arguments& arguments) {
  const std::vector<std::string>& given = arguments.Positional("SHELL");
  const std::string shell = given.empty() ? "bash" : given.front();
  const std::string script = shell == "bash" ? Bash() : shell == "zsh" ? Zsh() : Fish();
  SL_RETURN_IF_ERROR(PrintResult(script));
  return 0;
}

}  // namespace

CommandSpec CompletionCommand() {
  CommandSpec spec;
  spec.summary = "Print a completion script for a shell";
  spec.description =
      "Load it with: source <(steplens auto-completion bash), or write it where your shell looks "
      "for completions.";
  spec.positionals = {{.name = "SHELL",
                       .help = "bash (default), zsh or fish",
                       .required = false,
                       .is_path = false,
                       .choices = {"bash", "zsh", "fish"}}};
  spec.example = "source <(steplens auto-completion bash)";
  spec.run = RunCompletion;
  return spec;
}

}  // namespace steplens::cli
