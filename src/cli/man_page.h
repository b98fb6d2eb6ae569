#pragma once

#include <string>

#include "cli/command.h"

namespace steplens::cli {

// steplens(1): the program and all its commands, from the table of --help.
std::string ManPage();
// steplens-info(1): one command.
std::string ManPage(const CommandSpec& command);

}  // namespace steplens::cli
