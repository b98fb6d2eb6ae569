#include "analysis/compare/names.h"

#include <unordered_map>

namespace steplens::analysis::compare {

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
