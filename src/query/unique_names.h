#pragma once

#include <set>
#include <string>
#include <string_view>

namespace steplens::query {

// The text with ASCII letters in lower case, as SQL compares names.
std::string FoldName(std::string_view name);

// Gives out names that differ from each other in the eyes of SQL.
class UniqueNames {
 public:
  // `name`, or "name_2", "name_3", ... if it is taken. NUL becomes a blank, "" becomes "column".
  std::string Add(std::string_view name);

 private:
  std::set<std::string> taken_;  // folded
};

}  // namespace steplens::query
