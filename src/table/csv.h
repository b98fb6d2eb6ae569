#pragma once

#include <string>

#include "table/table.h"

namespace steplens::table {

// A header line and one line per row; cells are quoted only where they must be, lines end in LF.
std::string ToCsv(const Table& table);

}  // namespace steplens::table
