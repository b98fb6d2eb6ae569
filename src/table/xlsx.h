#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "table/sheet_look.h"
#include "table/table.h"

namespace steplens::table {

// One table as a sheet of a workbook.
struct Sheet {
  const Table* table = nullptr;         // must outlive the call
  std::string name;                     // made legal and unique; empty: the name of the table
  std::vector<double> column_widths{};  // in characters; those missing follow from the content
  size_t merge_columns = 0;  // equal cells below each other in the first N columns become one, as
                             // far as the columns left of them agree
  const SheetLook* look = nullptr;  // its own layout, which must outlive the call
};

// Writes the tables as one .xlsx file, which replaces an old one at once when it is complete; after
// an error nothing is left behind. Numbers are numbers as long as Excel keeps all their digits,
// else texts; empty cells stay empty. What is too long for a sheet goes on in a second one, and
// texts beyond 32,767 characters are cut. Same tables, same bytes. kUnsupported in a build without
// libxlsxwriter.
Status WriteXlsx(const std::string& path, std::span<const Sheet> sheets);

}  // namespace steplens::table
