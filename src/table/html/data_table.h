#pragma once

#include <cstddef>
#include <string>

#include "table/html/text.h"
#include "table/table.h"

namespace steplens::table::html {

// The first `max_rows` rows as a table that the script of the page can sort and filter. Times and
// integers have all their digits; doubles are rounded to the decimals of their column. The names of
// the table and its columns, and the cells of `words.columns`, are shown in both languages where
// `words` has them.
std::string DrawTable(const Table& table, size_t max_rows, const TableWords& words = {});

}  // namespace steplens::table::html
