#pragma once

#include <cstddef>
#include <string>

#include "table/table.h"

namespace steplens::table::html {

// The first `max_rows` rows as a table that the script of the page can sort and filter. Times and
// integers have all their digits; doubles are rounded to the decimals of their column.
std::string DrawTable(const Table& table, size_t max_rows);

}  // namespace steplens::table::html
