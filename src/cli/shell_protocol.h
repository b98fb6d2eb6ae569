#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/command.h"
#include "cli/namesake.h"

namespace steplens::cli {

// Completion by an environment variable, as msprof-analyze has it: with
// _MSPROF_ANALYZE_COMPLETE=bash_source the program prints a script for the shell, which calls it
// back with bash_complete, COMP_WORDS and COMP_CWORD for the words that may follow. zsh and fish
// likewise.

// The variable's value if the shell asks; nothing if the program is to run.
std::optional<std::string> AskedByShell(const Namesake& namesake);

// The script, or a line per candidate. An error for a value that is none of the protocol.
Result<std::string> AnswerShell(const Namesake& namesake, const std::string& asked);

// A word that may come next.
struct Candidate {
  std::string kind = "plain";  // or "file", "dir": the shell completes paths
  std::string value{};
  std::string help{};
};
// `words` are those before the one that is typed, without the program; `begin` is what is typed of
// it.
std::vector<Candidate> CandidatesFor(const std::vector<CommandSpec>& commands,
                                     const std::vector<std::string>& words,
                                     const std::string& begin);

// The line that a user pastes to switch completion on.
std::string ActivationText(const Namesake& namesake, std::string_view shell);

}  // namespace steplens::cli
