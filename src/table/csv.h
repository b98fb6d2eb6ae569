#pragma once

#include <string>

#include "table/table.h"

namespace steplens::table {

// A header line and one line per row; cells are quoted only where they must be, lines end in LF.
std::string ToCsv(const Table& table);

struct CsvOptions {
  bool python_doubles = false;   // "2.0", "100000.0", "1e-05", as Python writes doubles
  bool crlf = false;             // lines end in CR LF, as Python's csv writes them
  bool guards_formulas = false;  // texts that a spreadsheet would run get a ' in front
  std::string null_text{};       // an empty integer
};
std::string ToCsv(const Table& table, const CsvOptions& options);

}  // namespace steplens::table
