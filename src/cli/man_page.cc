#include "cli/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/version.h"

namespace steplens::cli {
namespace {

// Text in which roff sees nothing of its own.
std::string Roff(std::string_view text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    begins_line = c == '\n';
  }
  return out;
}

std::string Head(const std::string& name, std::string_view summary) {
  return fmt::format(".TH {} 1 \"\" \"steplens {}\" \"steplens\"\n.SH NAME\n{} \\- {}\n",
                     Roff(name), kVersion, Roff(name), Roff(summary));
}

std::string SynopsisOf(const CommandSpec& command) {
  std::string out = fmt::format(".B steplens {}\n", Roff(command.name));
  for (const PositionalSpec& positional : command.positionals) {
    const std::string name = Roff(positional.name) + (positional.repeated ? "..." : "");
    out += positional.required ? fmt::format(".I {}\n", name) : fmt::format("[\\fI{}\\fR]\n", name);
  }
  return out + (command.options.empty() ? "" : "[options]\n");
}

std::string OptionText(const OptionSpec& option) {
  std::string names = option.short_name.empty() ? "" : Roff(option.short_name) + ", ";
  names += Roff(option.name);
  const std::string value = option.choices.empty()
                                ? option.value_name
                                : fmt::format("{}", fmt::join(option.choices, "|"));
  const bool takes_value = !option.value_name.empty();
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}{}\n", names,
                     takes_value ? fmt::format(" \\fI{}\\fR", Roff(value)) : "", Roff(option.help),
                     option.default_value.empty()
                         ? ""
                         : fmt::format(" [default: {}]", Roff(option.default_value)));
}

std::string BodyOf(const CommandSpec& command) {
  std::string out = Roff(command.description) + "\n";
  for (const PositionalSpec& positional : command.positionals)
    out += fmt::format(".TP\n\\fI{}\\fR\n{}\n", Roff(positional.name), Roff(positional.help));
  for (const OptionSpec& option : command.options) out += OptionText(option);
  return out;
}

}  // namespace

std::string ManPage(const CommandSpec& command) {
  return Head("steplens-" + command.name, command.summary) + ".SH SYNOPSIS\n" +
         SynopsisOf(command) + ".SH DESCRIPTION\n" + BodyOf(command) +
         fmt::format(".SH EXAMPLE\n.nf\n{}\n.fi\n.SH SEE ALSO\n.BR steplens (1)\n",
                     Roff(command.example));
}

std::string ManPage() {
  std::string out = Head("steplens", "find out why a training step is slow") +
                    ".SH SYNOPSIS\n.B steplens\n.I command\n[arguments] [options]\n"
                    ".SH DESCRIPTION\nReads profiles of training jobs and says where the time of "
                    "a step goes and what to change. Each command has a page of its own.\n"
                    ".SH COMMANDS\n";
  std::string see_also;
  for (const CommandSpec& command : Commands()) {
    if (command.is_hidden) continue;
    out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", Roff(command.name), Roff(command.summary));
    see_also +=
        fmt::format("{}.BR steplens\\-{} (1)", see_also.empty() ? "" : ",\n", Roff(command.name));
  }
  out +=
      ".SH EXIT STATUS\n0 done; 2 wrong usage; 3 nothing to read; 4 corrupt data; 5 not "
      "supported; 6 an error of the operating system; 7 out of memory; 130 interrupted.\n";
  return out + ".SH SEE ALSO\n" + see_also + "\n";
}

}  // namespace steplens::cli
