#pragma once

#include <span>
#include <string>

#include "table/table.h"

namespace steplens::table {

// An array of objects, one per row and line. Times are numbers of microseconds with all their
// digits; empty cells of numeric columns are null.
std::string ToJson(const Table& table);

// One object with a member per table: {"steps": [...], "kernels": [...]}.
std::string ToJson(std::span<const Table> tables);

}  // namespace steplens::table
