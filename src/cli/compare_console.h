#pragma once

#include <string>

#include "table/table.h"

namespace steplens::cli {

// A table of texts with a frame and its name above, each cell in the middle, as the reference
// prints its overall times.
std::string FramedTable(const table::Table& table);

}  // namespace steplens::cli
