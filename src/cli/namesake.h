#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace steplens::cli {

// A program whose command lines this one takes when it is called by that name, through a link.
struct Namesake {
  std::string_view name;
  std::string_view command;  // put before what is typed; empty: commands are typed
  std::span<const std::string_view> commands;  // those that it has, in its order
};

// By the file name of argv[0]; null for steplens itself and for any other name.
const Namesake* FindNamesake(std::string_view argv0);

// What was typed, in the words of steplens: with the command that the namesake means.
std::vector<std::string> WordsOf(const Namesake& namesake, std::vector<std::string> words);

// Its commands, as they are there.
std::vector<CommandSpec> CommandsOf(const Namesake& namesake);

}  // namespace steplens::cli
