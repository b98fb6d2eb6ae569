#pragma once

#include <cstddef>

namespace steplens::cli {

// Columns of the terminal that stdout is; 0 if it is none.
size_t TerminalWidth();

}  // namespace steplens::cli
