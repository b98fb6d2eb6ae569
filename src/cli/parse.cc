#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "cli/command.h"
#include "cli/exit_code.h"
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
  const std::string value = Value(option);
  if (value.empty()) return std::nullopt;
  return std::stoll(value);  // checked by the parser
}

const std::vector<std::string>& Arguments::Positional(std::string_view name) const {
  static const std::vector<std::string> kNone;
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? kNone : found->second;
}

namespace {

// The words of one command as CLI11 sees them, and where it puts what was typed.
struct Binding {
  const CommandSpec* spec = nullptr;
  CLI::App* app = nullptr;
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> flags;
};

void Bind(const CommandSpec& spec, CLI::App& root, Binding& binding) {
  binding.spec = &spec;
  binding.app = root.add_subcommand(spec.name, spec.summary);
  binding.app->footer(fmt::format("{}\n\nExample:\n  {}", spec.description, spec.example));
  if (spec.is_hidden) binding.app->group("");
  binding.app->allow_extras(spec.takes_unknown);
  for (const PositionalSpec& positional : spec.positionals) {
    CLI::Option* option =
        binding.app->add_option(positional.name, binding.values[positional.name], positional.help);
    option->type_name("");
    option->expected(1, positional.repeated ? CLI::detail::expected_max_vector_size : 1);
    option->allow_extra_args(positional.repeated);
    if (positional.required) option->required();
    if (!positional.choices.empty()) option->check(CLI::IsMember(positional.choices));
  }
  for (const OptionSpec& option_spec : spec.options) {
    const std::string names = option_spec.short_name.empty()
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
    if (!option_spec.choices.empty()) option->check(CLI::IsMember(option_spec.choices));
    if (option_spec.is_integer) option->check(CLI::TypeValidator<int64_t>("INT"));
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

// `steplens -d PATH` is `steplens cluster -d PATH`: the command that is meant when none is named.
std::vector<std::string> WithDefaultCommand(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || !words.front().starts_with('-')) return words;
  const bool asks_for_help = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "-h" || word == "--help" || word == "-V" || word == "--version";
  });
  if (!asks_for_help) words.insert(words.begin(), "cluster");
  return words;
}

// Takes the words after "--" out of a command line whose command wants them as they are. Left to
// CLI11 they would be looked at for options if a list stands before "--".
std::vector<std::string> TakeRest(std::vector<std::string>& words) {
  const auto command = std::find_if(Commands().begin(), Commands().end(), [&](const auto& spec) {
    return !words.empty() && spec.name == words.front() && !spec.rest_positional.empty();
  });
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (command == Commands().end() || mark == words.end()) return {};
  std::vector<std::string> rest(mark + 1, words.end());
  words.erase(mark, words.end());
  return rest;
}

int Fail(const Error& error) {
  fmt::print(stderr, "steplens: {}\n", error.message);
  if (error.code == ErrorCode::kInternal) {
    fmt::print(stderr, "steplens: this is a bug; please report it with the command you typed\n");
  }
  return ExitCode(error.code);
}

int RunCommand(const Binding& binding, std::vector<std::string> rest) {
  Arguments arguments = Collect(binding);
  if (!rest.empty()) arguments.Set(binding.spec->rest_positional, std::move(rest));
  const Result<int> result = binding.spec->run(arguments);
  std::fflush(stdout);
  return result.ok() ? *result : Fail(result.error());
}

}  // namespace

int RunProgram(int argc, const char* const* argv) {
  CLI::App app("Finds out why a training step is slow.", "steplens");
  app.set_version_flag("--version,-V", std::string("steplens ") + kVersion);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  std::vector<Binding> bindings(Commands().size());
  for (size_t i = 0; i < bindings.size(); ++i) Bind(Commands()[i], app, bindings[i]);
  std::vector<std::string> words = WithDefaultCommand(argc, argv);
  std::vector<std::string> rest = TakeRest(words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const CLI::App* about = &app;
    for (const Binding& binding : bindings) {
      if (binding.app->parsed()) about = binding.app;
    }
    fmt::print(stderr, "steplens: {}\nTry '{} --help'.\n", error.what(),
               about == &app ? "steplens" : "steplens " + about->get_name());
    return kExitUsage;
  }
  for (const Binding& binding : bindings) {
    if (binding.app->parsed()) return RunCommand(binding, std::move(rest));
  }
  return kExitUsage;
}

}  // namespace steplens::cli
