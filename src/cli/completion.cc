#include <fmt/format.h>

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

std::string OptionNames(const CommandSpec& command) {
  std::string names = "--help";
  for (const OptionSpec& option : command.options) names += " " + option.name;
  return names;
}

std::string CommandNames() {
  std::string names;
  for (const CommandSpec& command : Listed()) names += (names.empty() ? "" : " ") + command.name;
  return names;
}

// Words that may stand where `command` takes a choice: positional choices.
std::string PositionalChoices(const CommandSpec& command) {
  std::string words;
  for (const PositionalSpec& positional : command.positionals) {
    for (const std::string& choice : positional.choices)
      words += (words.empty() ? "" : " ") + choice;
  }
  return words;
}

std::string Bash() {
  std::string out =
      "_steplens() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
      "command=${COMP_WORDS[1]}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  out += fmt::format(
      "    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$word\"))\n    return\n  fi\n",
      CommandNames());
  out += "  case \"$command $before\" in\n";
  for (const CommandSpec& command : Listed()) {
    for (const OptionSpec& option : command.options) {
      if (option.value_name.empty()) continue;
      out += fmt::format("    '{} {}') COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                         command.name, option.name, fmt::join(option.choices, " "));
    }
  }
  out += "  esac\n  case \"$command\" in\n";
  for (const CommandSpec& command : Listed()) {
    const std::string words = PositionalChoices(command);
    out += fmt::format(
        "    {})\n      case \"$word\" in\n        -*) COMPREPLY=($(compgen -W \"{}\" -- "
        "\"$word\")) ;;\n",
        command.name, OptionNames(command));
    out +=
        words.empty()
            ? "        *) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
            : fmt::format("        *) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")) ;;\n", words);
    out += "      esac ;;\n";
  }
  return out + "  esac\n}\ncomplete -F _steplens steplens\n";
}

// zsh and fish show the help beside each word; quotes in it would end the string.
std::string Quoted(std::string text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

std::string Zsh() {
  std::string out = "#compdef steplens\n_steplens() {\n  local -a commands\n  commands=(\n";
  for (const CommandSpec& command : Listed()) {
    out += fmt::format("    '{}:{}'\n", command.name, Quoted(command.summary));
  }
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  "
      "case ${words[2]} in\n";
  for (const CommandSpec& command : Listed()) {
    out += fmt::format("    {})\n      _arguments '--help[Print help]'", command.name);
    for (const OptionSpec& option : command.options) {
      std::string help = Quoted(option.help);
      out += option.value_name.empty()
                 ? fmt::format(" \\\n        '{}[{}]'", option.name, help)
                 : fmt::format(" \\\n        '{}[{}]:{}:({})'", option.name, help,
                               option.value_name, fmt::join(option.choices, " "));
    }
    const std::string words = PositionalChoices(command);
    out += words.empty() ? " \\\n        '*:path:_files'"
                         : fmt::format(" \\\n        '*:word:({})'", words);
    out += " ;;\n";
  }
  return out + "  esac\n}\ncompdef _steplens steplens\n";
}

std::string Fish() {
  std::string out =
      "complete -c steplens -f -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const CommandSpec& command : Listed()) {
    out += fmt::format("complete -c steplens -f -n __fish_use_subcommand -a {} -d '{}'\n",
                       command.name, Quoted(command.summary));
    const std::string when = fmt::format("'__fish_seen_subcommand_from {}'", command.name);
    for (const OptionSpec& option : command.options) {
      out += fmt::format("complete -c steplens -n {} -l {} -d '{}'", when, option.name.substr(2),
                         Quoted(option.help));
      if (!option.value_name.empty())
        out += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      out += '\n';
    }
    if (const std::string words = PositionalChoices(command); !words.empty()) {
      out += fmt::format("complete -c steplens -f -n {} -a '{}'\n", when, words);
    } else {
      out += fmt::format("complete -c steplens -F -n {}\n", when);
    }
  }
  return out;
}

Result<int> Run(const Arguments& arguments) {
  const std::string shell = arguments.Positional("SHELL").front();
  const std::string script = shell == "bash" ? Bash() : shell == "zsh" ? Zsh() : Fish();
  SL_RETURN_IF_ERROR(PrintResult(script));
  return 0;
}

}  // namespace

CommandSpec CompletionCommand() {
  CommandSpec spec;
  spec.name = "auto-completion";
  spec.summary = "Print a completion script for a shell";
  spec.description =
      "Load it with: source <(steplens auto-completion bash), or write it where your shell looks "
      "for completions.";
  spec.positionals = {{.name = "SHELL",
                       .help = "bash, zsh or fish",
                       .is_path = false,
                       .choices = {"bash", "zsh", "fish"}}};
  spec.example = "source <(steplens auto-completion bash)";
  spec.run = Run;
  return spec;
}

}  // namespace steplens::cli
