#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace steplens::cli {

// An option of a command. Without value_name it is a flag.
struct OptionSpec {
  std::string name{};        // "--top"
  std::string value_name{};  // "N"
  std::string help{};
  std::string default_value{};
  std::vector<std::string> choices{};  // allowed values, in any case; empty: any
  bool is_integer = false;
  bool is_required = false;
  std::string short_name{};  // "-d"
  bool is_list = false;      // takes all words up to the next option (Arguments::Values)
  bool is_repeated = false;  // may be given several times; Arguments::Values has them all
  std::vector<std::string> suggestions{};  // what completion offers beyond the choices
};

// A word of the command line without a name.
struct PositionalSpec {
  std::string name{};  // "PATH"
  std::string help{};
  bool repeated = false;
  bool required = true;
  bool is_path = true;
  std::vector<std::string> choices{};
  std::vector<std::string> suggestions{};  // what completion offers beyond the choices
};

// What the user typed, checked against the spec.
class Arguments {
 public:
  bool Has(std::string_view option) const { return values_.contains(std::string(option)); }
  std::string Value(std::string_view option) const;  // or its default
  // All values of an option that may be given several times; none if it was not given.
  const std::vector<std::string>& Values(std::string_view option) const {
    return Positional(option);
  }
  std::optional<int64_t> Integer(std::string_view option) const;
  const std::vector<std::string>& Positional(std::string_view name) const;

  // Words that no option explains, when the command takes them.
  const std::vector<std::string>& Unknown() const { return unknown_; }
  void SetUnknown(std::vector<std::string> words) { unknown_ = std::move(words); }

  void Set(const std::string& name, std::vector<std::string> values) {
    values_[name] = std::move(values);
  }
  void SetDefault(const std::string& name, std::string value) {
    defaults_[name] = std::move(value);
  }

 private:
  std::map<std::string, std::vector<std::string>> values_;
  std::map<std::string, std::string> defaults_;
  std::vector<std::string> unknown_;
};

// One command: everything that parsing, help, completion and docs/commands.md need, and what it
// does.
struct CommandSpec {
  std::string name;
  std::string summary;      // one line
  std::string description;  // more, for --help and the docs
  std::vector<PositionalSpec> positionals;
  std::vector<OptionSpec> options;
  std::string example;
  bool is_hidden = false;  // not listed: for the project itself
  // The positional that takes all words after "--" as they are; empty: "--" has no such meaning.
  std::string rest_positional{};
  // Whether words that are no option of the command are left to it (Arguments::Unknown).
  bool takes_unknown = false;
  // Writes the result to stdout. The exit code is 0, that of the error, or the value returned.
  std::function<Result<int>(const Arguments&)> run;
};

// The command that is meant where the first word is an option: `steplens -d PATH`.
inline constexpr std::string_view kDefaultCommand = "cluster";

// All commands, in the order help lists them.
const std::vector<CommandSpec>& Commands();

// The command of that name alone, or all if there is none. What the others would say of themselves
// costs a start of the program more time and memory than a small capture does.
std::vector<CommandSpec> CommandsFor(std::string_view word);

// Parses argv, runs the command and returns the exit code. Errors are printed to stderr.
int RunProgram(int argc, const char* const* argv);

}  // namespace steplens::cli
