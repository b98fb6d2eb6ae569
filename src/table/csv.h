#pragma once

#include <string>

#include "table/table.h"

namespace steplens::table {

// A header line and one line per row; cells are quoted only where they must be, lines end in LF.
std::string ToCsv(const Table& table);

struct CsvOptions {
  bool whole_doubles_with_point = false;  // "2.0" for a double that has no fraction, as Python does
};
std::string ToCsv(const Table& table, const CsvOptions& options);

}  // namespace steplens::table
