#include "analysis/compare/names.h"

#include <unordered_map>

namespace steplens::analysis::compare {

bool MatchesPattern(std::string_view pattern, std::string_view name) {
  size_t at = 0;
  size_t in_name = 0;
  size_t star = std::string_view::npos;  // the last one, and how much of the name it has taken
  size_t taken = 0;
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = in_name;
    } else if (at < pattern.size() && pattern[at] == name[in_name]) {
      ++at;
      ++in_name;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_name = ++taken;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

std::vector<Pair> MatchNames(std::span<const std::string> base,
                             std::span<const std::string> comparison) {
  std::unordered_map<std::string_view, uint32_t> ids;
  const auto ids_of = [&](std::span<const std::string> names) {
    std::vector<uint32_t> list;
    list.reserve(names.size());
    for (const std::string& name : names) {
      list.push_back(ids.try_emplace(name, static_cast<uint32_t>(ids.size())).first->second);
    }
    return list;
  };
  const std::vector<uint32_t> base_ids = ids_of(base);
  return MatchSequences(base_ids, ids_of(comparison));
}

}  // namespace steplens::analysis::compare
