#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <system_error>

#include "base/memory_limit.h"
#include "base/nearest_name.h"
#include "base/number.h"
#include "base/roots.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/limits.h"
#include "cli/namesake.h"
#include "cli/shell_protocol.h"
#include "cli/standard_streams.h"
#include "cli/version.h"

namespace steplens::cli {

std::string Arguments::Value(std::string_view option) const {
  if (const auto found = values_.find(std::string(option));
      found != values_.end() && !found->second.empty()) {
    return found->second.back();
  }
  const auto found = defaults_.find(std::string(option));
  return found == defaults_.end() ? "" : found->second;
}

std::optional<int64_t> Arguments::Integer(std::string_view option) const {
  return ParseInt64(Value(option));  // checked by the parser
}

const std::vector<std::string>& Arguments::Positional(std::string_view name) const {
  static const std::vector<std::string> kNone;
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? kNone : found->second;
}

namespace {

const std::string kHelpNames = "-h,-H,--help";
const std::string kVersionNames = "-V,-v,--version";
const std::string kVersionLine = std::string("steplens ") + kVersion;

// The words of one command as CLI11 sees them, and where it puts what was typed.
struct Binding {
  const CommandSpec* spec = nullptr;
  CLI::App* app = nullptr;
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> flags;
};

// Refuses a value that is none of the choices; CLI11 puts the option's name before the message. One
// that differs in upper and lower case only becomes the choice.
CLI::Validator OneOf(const std::vector<std::string>& choices) {
  const auto check = [choices](std::string& value) -> std::string {
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return "";
    const auto alike = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) {
      return CLI::detail::to_lower(choice) == CLI::detail::to_lower(value);
    });
    if (alike != choices.end()) {
      value = *alike;
      return "";
    }
    return fmt::format("'{}' is none of {}{}", value, fmt::join(choices, ", "),
                       DidYouMean(value, choices));
  };
  return CLI::Validator(check, fmt::format("{{{}}}", fmt::join(choices, ",")));
}

CLI::Validator WholeNumber() {
  const auto check = [](const std::string& value) -> std::string {
    if (ParseInt64(value)) return "";
    return fmt::format("'{}' is not a whole number of 64 bits", value);
  };
  return CLI::Validator(check, "INT");
}

// A short name of several letters, -bp: CLI11 knows none such, so they are replaced before.
bool IsLongShortName(const OptionSpec& option) { return option.short_name.size() > 2; }

void ReplaceLongShortNames(const std::vector<CommandSpec>& commands,
                           std::vector<std::string>& words) {
  if (commands.size() != 1) return;
  for (const OptionSpec& option : commands.front().options) {
    if (!IsLongShortName(option)) continue;
    for (std::string& word : words) {
      if (word == option.short_name || word.starts_with(option.short_name + "=")) {
        word.replace(0, option.short_name.size(), option.name);
      }
    }
  }
}

void Bind(const CommandSpec& spec, CLI::App& root, Binding& binding) {
  binding.spec = &spec;
  binding.app = root.add_subcommand(spec.name, spec.summary);
  binding.app->footer(fmt::format("{}\n\nExample:\n  {}", spec.description, spec.example));
  if (spec.is_hidden) binding.app->group("");
  binding.app->set_version_flag(kVersionNames, kVersionLine);
  binding.app->allow_extras(spec.takes_unknown);
  for (const PositionalSpec& positional : spec.positionals) {
    CLI::Option* option =
        binding.app->add_option(positional.name, binding.values[positional.name], positional.help);
    option->type_name("");
    option->expected(1, positional.repeated ? CLI::detail::expected_max_vector_size : 1);
    option->allow_extra_args(positional.repeated);
    if (positional.required) option->required();
    if (!positional.choices.empty()) option->transform(OneOf(positional.choices));
  }
  for (const OptionSpec& option_spec : spec.options) {
    const std::string names = option_spec.short_name.empty() || IsLongShortName(option_spec)
                                  ? option_spec.name
                                  : option_spec.short_name + "," + option_spec.name;
    if (option_spec.value_name.empty()) {
      binding.app->add_flag(names, binding.flags[option_spec.name], option_spec.help);
      continue;
    }
    CLI::Option* option =
        binding.app->add_option(names, binding.values[option_spec.name], option_spec.help);
    option->type_name(option_spec.value_name);
    option->expected(1, option_spec.is_list ? CLI::detail::expected_max_vector_size : 1);
    option->allow_extra_args(option_spec.is_list);
    if (option_spec.is_repeated) option->take_all();
    if (option_spec.is_required) option->required();
    if (!option_spec.default_value.empty()) option->default_str(option_spec.default_value);
    if (!option_spec.choices.empty()) option->transform(OneOf(option_spec.choices));
    if (option_spec.is_integer) option->check(WholeNumber());
  }
}

Arguments Collect(const Binding& binding) {
  Arguments arguments;
  for (const auto& [name, values] : binding.values) {
    if (!values.empty()) arguments.Set(name, values);
  }
  for (const auto& [name, is_set] : binding.flags) {
    if (is_set) arguments.Set(name, {});
  }
  for (const OptionSpec& option : binding.spec->options) {
    if (!option.default_value.empty()) arguments.SetDefault(option.name, option.default_value);
  }
  arguments.SetUnknown(binding.app->remaining());
  return arguments;
}

// The command line with the default command where none is named.
std::vector<std::string> WithDefaultCommand(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() == "help") {  // `help info` is `info --help`
    words.erase(words.begin());
    words.push_back("--help");
  }
  if (!words.front().starts_with('-')) return words;
  const bool asks_for_help = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    const std::string names = fmt::format(",{},{},", kHelpNames, kVersionNames);
    return names.find("," + word + ",") != std::string::npos;
  });
  if (!asks_for_help) words.insert(words.begin(), std::string(kDefaultCommand));
  return words;
}

// Takes the words after "--" out of a command line whose command wants them as they are. Left to
// CLI11 they would be looked at for options if a list stands before "--".
std::vector<std::string> TakeRest(const std::vector<CommandSpec>& commands,
                                  std::vector<std::string>& words) {
  const bool has_rest = commands.size() == 1 && !commands.front().rest_positional.empty();
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (!has_rest || mark == words.end()) return {};
  std::vector<std::string> rest(mark + 1, words.end());
  words.erase(mark, words.end());
  return rest;
}

// "--profile_step_start" is "--profile-step-start": settings of trainings are spelled both ways.
// Options that have a "_" themselves stay as they are.
void SpellWithDashes(const std::vector<CommandSpec>& commands, std::vector<std::string>& words) {
  if (commands.size() != 1) return;
  const auto is_option = [&](const std::string& name) {
    const auto& options = commands.front().options;
    return std::any_of(options.begin(), options.end(),
                       [&](const OptionSpec& option) { return option.name == name; });
  };
  for (std::string& word : words) {
    const size_t end = std::min(word.find('='), word.size());
    std::string name = word.substr(0, end);
    if (!name.starts_with("--profile_") || is_option(name)) continue;
    std::replace(name.begin(), name.end(), '_', '-');
    if (is_option(name)) word.replace(0, end, name);
  }
}

int Fail(const Error& error) {
  Say(fmt::format("steplens: {}\n", error.message));
  if (error.code == ErrorCode::kInternal) {
    Say("steplens: this is a bug; please report it with the command you typed\n");
  }
  return ExitCode(error.code);
}

// The exit code of a command that is done, unless its result did not get out.
int Finish(int exit_code) {
  const Status written = FlushResult();
  return written.ok() ? exit_code : Fail(written.error());
}

int RunCommand(const Binding& binding, std::vector<std::string> rest) {
  Arguments arguments = Collect(binding);
  if (!rest.empty()) arguments.Set(binding.spec->rest_positional, std::move(rest));
  if (arguments.Has("--follow-links")) FollowLinks();
  if (const Status limits = SetLimits(arguments); !limits.ok()) return Fail(limits.error());
  try {
    const Result<int> result = binding.spec->run(arguments);
    return result.ok() ? Finish(*result) : Fail(result.error());
  } catch (const std::bad_alloc&) {
    return Fail(OutOfMemory());
  } catch (const std::system_error& error) {
    if (IsOutOfMemory(error)) return Fail(OutOfMemory());
    // What fmt throws when it cannot print.
    return Fail({ErrorCode::kIo,
                 fmt::format("the result could not be written: {}", error.code().message())});
  }
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const CommandSpec& command : Commands()) {
    if (!command.is_hidden) names.push_back(command.name);
  }
  return names;
}

std::vector<std::string> OptionNames(const CommandSpec& command) {
  std::vector<std::string> names = {"--help"};
  for (const OptionSpec& option : command.options) names.push_back(option.name);
  return names;
}

// Words that nothing on the command line explains, with what they may have been meant to be.
std::string ExplainExtras(const Binding* binding, const CLI::App& root) {
  const std::vector<std::string> extras = (binding == nullptr ? &root : binding->app)->remaining();
  if (extras.empty()) {
    if (binding != nullptr) return "";
    return fmt::format("no command given; there are {}", fmt::join(CommandNames(), ", "));
  }
  const std::string& word = extras.front();
  if (binding == nullptr) {
    return fmt::format("there is no command '{}'{}", word, DidYouMean(word, CommandNames()));
  }
  if (!word.starts_with('-')) return fmt::format("there is no place for '{}'", word);
  const std::string name = word.substr(0, word.find('='));
  return fmt::format("there is no option '{}'{}", name,
                     DidYouMean(name, OptionNames(*binding->spec)));
}

// CLI11's words for too many or too few values are its own.
std::string MessageOf(const CLI::ParseError& error) {
  const std::string message = error.what();
  if (error.get_name() != "ArgumentMismatch") return message;
  const std::string option = message.substr(0, message.find(':'));
  return message.find("missing") == std::string::npos
             ? fmt::format("{} was given more than once, once was expected", option)
             : fmt::format("{}: a value was expected behind it", option);
}

int FailToParse(const CLI::ParseError& error, const std::vector<Binding>& bindings,
                const CLI::App& root, const Namesake* namesake) {
  const Binding* about = nullptr;
  for (const Binding& binding : bindings) {
    if (binding.app->parsed()) about = &binding;
  }
  std::string message = ExplainExtras(about, root);
  if (message.empty()) message = MessageOf(error);
  std::string called = namesake == nullptr ? "steplens" : std::string(namesake->name);
  if (about != nullptr && (namesake == nullptr || namesake->command.empty()))
    called += " " + about->spec->name;
  Say(fmt::format("steplens: {}\nTry '{} --help'.\n", message, called));
  return kExitUsage;
}

}  // namespace

int RunProgram(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const Namesake* namesake = argc < 1 ? nullptr : FindNamesake(argv[0]);
  if (namesake != nullptr) {
    if (const std::optional<std::string> asked = AskedByShell(*namesake)) {
      const Result<std::string> text = AnswerShell(*namesake, *asked);
      if (!text.ok()) return Fail(text.error());
      const Status printed = PrintResult(*text);
      return printed.ok() ? Finish(0) : Fail(printed.error());
    }
    words = WordsOf(*namesake, std::move(words));
  }
  CLI::App app("Finds out why a training step is slow.",
               namesake == nullptr ? "steplens" : std::string(namesake->name));
  app.set_help_flag(kHelpNames, "Print this help message and exit");  // commands take it over
  app.set_version_flag(kVersionNames, kVersionLine);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  words = WithDefaultCommand(std::move(words));
  const std::string first = words.empty() ? "" : words.front();
  std::vector<CommandSpec> commands =
      namesake == nullptr ? CommandsFor(first) : CommandsOf(*namesake);
  if (namesake != nullptr) {
    const auto typed = std::find_if(commands.begin(), commands.end(),
                                    [&](const CommandSpec& one) { return one.name == first; });
    if (typed != commands.end()) commands = std::vector<CommandSpec>{*typed};
  }
  std::vector<Binding> bindings(commands.size());
  for (size_t i = 0; i < bindings.size(); ++i) Bind(commands[i], app, bindings[i]);
  if (words.empty()) {
    const Status printed = PrintResult(app.help());
    return printed.ok() ? Finish(0) : Fail(printed.error());
  }
  std::vector<std::string> rest = TakeRest(commands, words);
  SpellWithDashes(commands, words);
  ReplaceLongShortNames(commands, words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return Finish(app.exit(error));  // --help, --version
    return FailToParse(error, bindings, app, namesake);
  }
  for (const Binding& binding : bindings) {
    if (binding.app->parsed()) return RunCommand(binding, std::move(rest));
  }
  return kExitUsage;
}

}  // namespace steplens::cli
