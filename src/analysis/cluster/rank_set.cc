#include "analysis/cluster/rank_set.h"

#include <fmt/format.h>

#include <algorithm>

namespace steplens::analysis::cluster {

RankSet::RankSet(std::vector<int64_t> ranks) {
  if (!std::is_sorted(ranks.begin(), ranks.end())) std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (const int64_t rank : ranks) {
    if (!runs_.empty()) {
      Run& last = runs_.back();
      if (last.count == 1) last.stride = rank - last.first;
      if (rank == last.first + last.stride * last.count) {
        ++last.count;
        continue;
      }
    }
    runs_.push_back({rank, 1, 1});
  }
}

std::vector<int64_t> RankSet::ranks() const {
  std::vector<int64_t> out;
  out.reserve(size());
  for (const Run& run : runs_) {
    for (int64_t i = 0; i < run.count; ++i) out.push_back(run.first + run.stride * i);
  }
  return out;
}

size_t RankSet::size() const {
  size_t size = 0;
  for (const Run& run : runs_) size += static_cast<size_t>(run.count);
  return size;
}

bool RankSet::Contains(int64_t rank) const {
  return std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) {
    const int64_t offset = rank - run.first;
    return offset >= 0 && offset % run.stride == 0 && offset / run.stride < run.count;
  });
}

std::string RankSet::ToText(std::string_view separator) const {
  const std::vector<int64_t> all = ranks();
  const bool is_python_single = all.size() == 1 && separator != ",";
  return fmt::format("({}{})", fmt::join(all, separator), is_python_single ? "," : "");
}

std::string RankSet::ToShortText() const {
  std::string text;
  for (const Run& run : runs_) {
    if (!text.empty()) text += ',';
    text += std::to_string(run.first);
    if (run.count == 1) continue;
    text += fmt::format("-{}", run.first + run.stride * (run.count - 1));
    if (run.stride != 1) text += fmt::format(":{}", run.stride);
  }
  return text;
}

}  // namespace steplens::analysis::cluster
