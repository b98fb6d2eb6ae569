#include <fmt/format.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/man_page.h"
#include "cli/standard_streams.h"
#include "store/schema_doc.h"

namespace steplens::cli {
namespace {

std::string Synopsis(const CommandSpec& command) {
  std::string out = "steplens " + command.name;
  for (const PositionalSpec& positional : command.positionals) {
    const std::string name = positional.name + (positional.repeated ? "..." : "");
    out += positional.required ? " " + name : " [" + name + "]";
  }
  return out + (command.options.empty() ? "" : " [options]");
}

std::string OptionRow(const OptionSpec& option) {
  std::string value = option.value_name;
  if (!option.choices.empty()) value = fmt::format("{}", fmt::join(option.choices, "\\|"));
  const std::string names =
      option.short_name.empty() ? option.name : option.short_name + "`, `" + option.name;
  return fmt::format("| `{}`{} | {} | {} |\n", names, value.empty() ? "" : " " + value, option.help,
                     option.default_value);
}

std::string CommandsMarkdown() {
  std::string out =
      "# Commands\n\n"
      "Written by `steplens docs commands` from the same table that `--help` and shell completion "
      "use; do not edit by hand.\n\n"
      "The result goes to stdout, everything else to stderr. The same input and options give the "
      "same bytes.\n\n"
      "On a terminal, tables are fitted to its width: headers take several lines, then names are "
      "shortened in the middle, and a table of up to eight rows that is still wider is turned "
      "sideways, a line per column. To a pipe or a file nothing is cut.\n";
  for (const CommandSpec& command : Commands()) {
    if (command.is_hidden) continue;
    out += fmt::format("\n## {}\n\n{}.\n\n    {}\n\n{}\n\n", command.name, command.summary,
                       Synopsis(command), command.description);
    for (const PositionalSpec& positional : command.positionals) {
      out += fmt::format("* `{}`: {}\n", positional.name, positional.help);
    }
    if (!command.options.empty()) out += "\n| option | meaning | default |\n|---|---|---|\n";
    for (const OptionSpec& option : command.options) out += OptionRow(option);
    out += fmt::format("\nExample:\n\n    {}\n", command.example);
  }
  return out +
         "\n## Exit codes\n\n"
         "| code | meaning |\n|---|---|\n"
         "| 0 | done; `verify`: every rule holds |\n"
         "| 1 | `verify`: a rule is broken |\n"
         "| 2 | wrong usage: an impossible option or value |\n"
         "| 3 | nothing to read: no such path, or no profile in it |\n"
         "| 4 | corrupt data; with `--strict`: an unusable record "
         "|\n"
         "| 5 | a known format or version that is not supported yet |\n"
         "| 6 | the operating system reported an error (permission, disk) |\n"
         "| 7 | out of memory, or above the `--max-memory` limit |\n"
         "| 70 | a bug in steplens |\n"
         "| 130 | interrupted |\n";
}

Status WriteManPage(const std::string& path, const std::string& text) {
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  SL_RETURN_IF_ERROR(file.Write(text.data(), text.size()));
  return file.Commit();
}

// steplens.1 and steplens-COMMAND.1 below the folder.
Status WriteManPages(const std::string& folder) {
  SL_RETURN_IF_ERROR(WriteManPage(folder + "/steplens.1", ManPage()));
  for (const CommandSpec& command : Commands()) {
    if (command.is_hidden) continue;
    SL_RETURN_IF_ERROR(
        WriteManPage(fmt::format("{}/steplens-{}.1", folder, command.name), ManPage(command)));
  }
  return {};
}

Result<int> RunDocs(const Arguments& arguments) {
  const std::string page = arguments.Positional("PAGE").front();
  if (page == "man") {
    if (!arguments.Has("--output"))
      return Error{ErrorCode::kInvalidArgument, "docs man: --output names the folder"};
    SL_RETURN_IF_ERROR(WriteManPages(arguments.Value("--output")));
    return 0;
  }
  SL_RETURN_IF_ERROR(PrintResult(page == "schema" ? store::SchemaMarkdown() : CommandsMarkdown()));
  return 0;
}

}  // namespace

CommandSpec DocsCommand() {
  CommandSpec spec;
  spec.summary = "Print a page of docs/ that is made from the code";
  spec.description =
      "docs/commands.md and docs/schema.md are written with it; man: the man pages, into a folder.";
  spec.positionals = {{.name = "PAGE",
                       .help = "commands, schema or man",
                       .is_path = false,
                       .choices = {"commands", "schema", "man"}}};
  spec.options = {{.name = "--output", .value_name = "DIR", .help = "man: the folder to write to"}};
  spec.example = "steplens docs schema > docs/schema.md";
  spec.is_hidden = true;
  spec.run = RunDocs;
  return spec;
}

}  // namespace steplens::cli
