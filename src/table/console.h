#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "table/table.h"

namespace steplens::table {

struct ConsoleOptions {
  // Terminal columns to fit into; 0: no limit, nothing is cut. A table that is wider gets headers
  // of several lines and texts shortened in the middle; one of a few rows that is still wider is
  // turned sideways, a line per column and as many rows beside each other as fit.
  size_t width = 0;
  bool title = false;  // the name of the table on a line of its own
  bool bars = false;   // a bar beside each number of a share column, the largest being full
};

// Aligned columns under an underlined header: numbers to the right, texts to the left. Safe to
// print: whatever a name of the profile holds, no control character reaches the terminal.
std::string ToConsole(const Table& table, const ConsoleOptions& options);

// One after the other, with an empty line between.
std::string ToConsole(std::span<const Table> tables, const ConsoleOptions& options);

}  // namespace steplens::table
