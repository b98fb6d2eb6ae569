#pragma once

#include <set>
#include <string>
#include <string_view>

// Texts in the form that Excel takes. It counts their length in UTF-16 units.

namespace steplens::table {

// A text as a cell: valid UTF-8 without control characters except line feeds and TABs, and at most
// 32,767 long, cut with an ellipsis.
std::string ToXlsxText(std::string_view text);

// Hands out the names of the sheets of one workbook.
class SheetNames {
 public:
  // `wanted` without the characters []:*?/\ and at most 31 long; with "_2", "_3", ... at its end if
  // it is taken (upper and lower case being the same).
  std::string Add(std::string_view wanted);

 private:
  std::set<std::string> taken_;  // in lower case
};

}  // namespace steplens::table
