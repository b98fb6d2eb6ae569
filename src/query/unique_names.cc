#include "query/unique_names.h"

#include <algorithm>

namespace steplens::query {

std::string FoldName(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return folded;
}

std::string UniqueNames::Add(std::string_view name) {
  std::string base(name.empty() ? "column" : name);
  std::replace(base.begin(), base.end(), '\0', ' ');
  std::string unique = base;
  for (int i = 2; !taken_.insert(FoldName(unique)).second; ++i) {
    unique = base + "_" + std::to_string(i);
  }
  return unique;
}

}  // namespace steplens::query
