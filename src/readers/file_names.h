#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/number.h"

namespace steplens::readers {

// "ascend_pytorch_profiler_7.db" with ("ascend_pytorch_profiler", ".db") -> "_7"; nothing if it
// does not fit.
inline std::optional<std::string_view> MiddleOf(std::string_view name, std::string_view prefix,
                                                std::string_view suffix) {
  if (name.size() < prefix.size() + suffix.size() || !name.starts_with(prefix) ||
      !name.ends_with(suffix)) {
    return std::nullopt;
  }
  return name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
}

// The first run of digits behind one of the words people put before a rank: rank-34.Jul_15,
// rank0.json, worker0.162...
inline std::optional<int64_t> RankInName(std::string_view name) {
  for (const std::string_view word : {"rank", "worker"}) {
    const size_t at = name.find(word);
    if (at == std::string_view::npos) continue;
    size_t begin = at + word.size();
    if (begin < name.size() && (name[begin] == '-' || name[begin] == '_')) ++begin;
    size_t end = begin;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    if (end > begin && end - begin < 10) return ParseInt64(name.substr(begin, end - begin));
  }
  return std::nullopt;
}

}  // namespace steplens::readers
