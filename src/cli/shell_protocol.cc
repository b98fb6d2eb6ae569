#include "cli/shell_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/number.h"

namespace steplens::cli {
namespace {

std::string VariableOf(const Namesake& namesake) {
  std::string out = fmt::format("_{}_COMPLETE", namesake.name);
  for (char& c : out) {
    if (c == '-') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string FunctionOf(const Namesake& namesake) {
  std::string out = fmt::format("_{}_complete", namesake.name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

std::string BashScript(const Namesake& namesake) {
  return fmt::format(
      "{function}() {{\n"
      "  local kind value\n"
      "  COMPREPLY=()\n"
      "  while IFS=, read -r kind value; do\n"
      "    case \"$kind\" in\n"
      "      plain) COMPREPLY+=(\"$value\") ;;\n"
      "      dir) compopt -o dirnames 2>/dev/null ;;\n"
      "      file) compopt -o default 2>/dev/null ;;\n"
      "    esac\n"
      "  done < <(env COMP_WORDS=\"${{COMP_WORDS[*]}}\" COMP_CWORD=\"$COMP_CWORD\" "
      "{variable}=bash_complete \"$1\")\n"
      "}}\n"
      "complete -o nosort -F {function} {name}\n",
      fmt::arg("function", FunctionOf(namesake)), fmt::arg("variable", VariableOf(namesake)),
      fmt::arg("name", namesake.name));
}

std::string ZshScript(const Namesake& namesake) {
  return fmt::format(
      "#compdef {name}\n"
      "{function}() {{\n"
      "  local -a lines described\n"
      "  local kind value help\n"
      "  lines=(\"${{(@f)$(env COMP_WORDS=\"${{words[*]}}\" COMP_CWORD=$((CURRENT-1)) "
      "{variable}=zsh_complete {name})}}\")\n"
      "  for kind value help in $lines; do\n"
      "    case $kind in\n"
      "      plain) described+=(\"${{value//:/\\\\:}}:$help\") ;;\n"
      "      dir) _path_files -/ ;;\n"
      "      file) _path_files -f ;;\n"
      "    esac\n"
      "  done\n"
      "  [ -n \"$described\" ] && _describe -V unsorted described\n"
      "}}\n"
      "compdef {function} {name}\n",
      fmt::arg("function", FunctionOf(namesake)), fmt::arg("variable", VariableOf(namesake)),
      fmt::arg("name", namesake.name));
}

std::string FishScript(const Namesake& namesake) {
  return fmt::format(
      "function {function}\n"
      "  for line in (env {variable}=fish_complete COMP_WORDS=(commandline -cp) "
      "COMP_CWORD=(commandline -t) {name})\n"
      "    set -l parts (string split -m 1 ',' -- $line)\n"
      "    switch $parts[1]\n"
      "      case plain\n"
      "        echo $parts[2]\n"
      "      case dir\n"
      "        __fish_complete_directories $parts[2]\n"
      "      case file\n"
      "        __fish_complete_path $parts[2]\n"
      "    end\n"
      "  end\n"
      "end\n"
      "complete --no-files --command {name} --arguments '({function})'\n",
      fmt::arg("function", FunctionOf(namesake)), fmt::arg("variable", VariableOf(namesake)),
      fmt::arg("name", namesake.name));
}

std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = text.find_first_not_of(" \t\n"); at != std::string_view::npos;
       at = text.find_first_not_of(" \t\n", at)) {
    const size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::string TextOfVariable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no other thread runs
  return value == nullptr ? "" : value;
}

// What was typed, and what of the last word. Fish gives the text before the cursor and the word.
struct Typed {
  std::vector<std::string> before;
  std::string begin;
};
Typed ReadTyped(bool is_fish) {
  Typed out;
  out.before = SplitWords(TextOfVariable("COMP_WORDS"));
  const std::string at = TextOfVariable("COMP_CWORD");
  if (is_fish) {
    out.begin = at;
    if (!at.empty() && !out.before.empty() && out.before.back() == at) out.before.pop_back();
  } else {
    const auto place = static_cast<size_t>(std::max<int64_t>(ParseInt64(at).value_or(0), 0));
    if (place < out.before.size()) out.begin = out.before[place];
    out.before.resize(std::min(place, out.before.size()));
  }
  if (!out.before.empty()) out.before.erase(out.before.begin());  // the program
  return out;
}

std::string Lines(const std::vector<Candidate>& candidates, std::string_view shell) {
  std::string out;
  for (const Candidate& one : candidates) {
    if (shell == "zsh") {
      out += fmt::format("{}\n{}\n{}\n", one.kind, one.value, one.help.empty() ? "_" : one.help);
    } else if (shell == "fish" && !one.help.empty()) {
      out += fmt::format("{},{}\t{}\n", one.kind, one.value, one.help);
    } else {
      out += fmt::format("{},{}\n", one.kind, one.value);
    }
  }
  return out;
}

bool TakesFolder(const OptionSpec& option) {
  return option.value_name.starts_with("DIR") || option.value_name.starts_with("PATH");
}

void AddWords(const std::vector<std::string>& words, const std::string& begin,
              std::vector<Candidate>& out) {
  for (const std::string& word : words) {
    if (word.starts_with(begin)) out.push_back({"plain", word, ""});
  }
}

// What may stand behind an option.
std::vector<Candidate> ValuesOf(const OptionSpec& option, const std::string& begin) {
  std::vector<Candidate> out;
  if (TakesFolder(option)) return {{"dir", begin, ""}};
  if (option.value_name.starts_with("FILE")) return {{"file", begin, ""}};
  AddWords(option.choices.empty() ? option.suggestions : option.choices, begin, out);
  return out;
}

}  // namespace

std::optional<std::string> AskedByShell(const Namesake& namesake) {
  const std::string value = TextOfVariable(VariableOf(namesake).c_str());
  return value.empty() ? std::nullopt : std::optional(value);
}

Result<std::string> AnswerShell(const Namesake& namesake, const std::string& asked) {
  if (asked == "bash_source") return BashScript(namesake);
  if (asked == "zsh_source") return ZshScript(namesake);
  if (asked == "fish_source") return FishScript(namesake);
  const std::string shell = asked.substr(0, asked.find('_'));
  if (!asked.ends_with("_complete") || (shell != "bash" && shell != "zsh" && shell != "fish")) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: '{}' is none of bash_source, zsh_source, fish_source, "
                             "bash_complete, zsh_complete, fish_complete",
                             VariableOf(namesake), asked)};
  }
  const Typed typed = ReadTyped(shell == "fish");
  return Lines(CandidatesFor(CommandsOf(namesake), typed.before, typed.begin), shell);
}

std::vector<Candidate> CandidatesFor(const std::vector<CommandSpec>& commands,
                                     const std::vector<std::string>& words,
                                     const std::string& begin) {
  std::vector<Candidate> out;
  const CommandSpec* command = commands.size() == 1 ? &commands.front() : nullptr;
  for (const std::string& word : words) {
    for (const CommandSpec& one : commands) {
      if (command == nullptr && one.name == word) command = &one;
    }
  }
  if (command == nullptr && words.empty() && !begin.starts_with('-')) {
    for (const CommandSpec& one : commands) {
      if (one.name.starts_with(begin)) out.push_back({"plain", one.name, one.summary});
    }
    return out;
  }
  if (command == nullptr) {  // options of the command that is meant without one
    const auto meant = std::find_if(commands.begin(), commands.end(), [](const CommandSpec& one) {
      return one.name == kDefaultCommand;
    });
    if (meant == commands.end()) return out;
    command = &*meant;
  }
  for (const OptionSpec& option : command->options) {
    const bool is_before = !words.empty() && !option.value_name.empty() &&
                           (words.back() == option.name || words.back() == option.short_name);
    if (is_before) return ValuesOf(option, begin);
  }
  if (begin.starts_with('-')) {
    for (const OptionSpec& option : command->options) {
      for (const std::string& name : {option.short_name, option.name}) {
        if (!name.empty() && name.starts_with(begin)) out.push_back({"plain", name, option.help});
      }
    }
    if (std::string_view("--help").starts_with(begin)) out.push_back({"plain", "--help", ""});
    return out;
  }
  for (const PositionalSpec& positional : command->positionals) {
    if (positional.is_path) out.push_back({"file", begin, ""});
    AddWords(positional.choices, begin, out);
    AddWords(positional.suggestions, begin, out);
  }
  return out;
}

std::string ActivationText(const Namesake& namesake, std::string_view shell) {
  const std::string variable = VariableOf(namesake);
  const std::string line =
      shell == "fish" ? fmt::format("eval (env {}=fish_source {})", variable, namesake.name)
                      : fmt::format("eval \"$({}={}_source {})\"", variable, shell, namesake.name);
  return fmt::format("Run this line, or add it to the start-up file of your shell:\n\n{}\n\n",
                     line);
}

}  // namespace steplens::cli
