#include "analysis/cluster/rank_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace steplens::analysis::cluster {
namespace {

// More ranks than any job has: what another program wrote may say any number.
constexpr int64_t kMostRanks = int64_t{1} << 20;
constexpr int64_t kLastRank = int64_t{1} << 40;

bool IsOfAJob(int64_t first, int64_t stride, int64_t count) {
  return first >= -kLastRank && first <= kLastRank && stride > 0 && stride <= kLastRank &&
         count > 0 && count <= kMostRanks && first + stride * (count - 1) <= kLastRank;
}

// The runs before one that no job has.
template <typename Run>
std::span<const Run> SoundRuns(const std::vector<Run>& runs) {
  int64_t all = 0;
  size_t sound = 0;
  for (; sound < runs.size(); ++sound) {
    const Run& run = runs[sound];
    if (!IsOfAJob(run.first, run.stride, run.count)) break;
    all += run.count;
    if (all > kMostRanks) break;
  }
  return std::span(runs).first(sound);
}

}  // namespace

RankSet::RankSet(std::vector<int64_t> ranks) {
  if (!std::is_sorted(ranks.begin(), ranks.end())) std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::erase_if(ranks, [](int64_t rank) { return !IsOfAJob(rank, 1, 1); });
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
  for (const Run& run : SoundRuns(runs_)) {
    for (int64_t i = 0; i < run.count; ++i) out.push_back(run.first + run.stride * i);
  }
  return out;
}

size_t RankSet::size() const {
  size_t size = 0;
  for (const Run& run : SoundRuns(runs_)) size += static_cast<size_t>(run.count);
  return size;
}

bool RankSet::Contains(int64_t rank) const {
  if (!IsOfAJob(rank, 1, 1)) return false;
  const std::span<const Run> runs = SoundRuns(runs_);
  return std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
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
  for (const Run& run : SoundRuns(runs_)) {
    if (!text.empty()) text += ',';
    text += std::to_string(run.first);
    if (run.count == 1) continue;
    text += fmt::format("-{}", run.first + run.stride * (run.count - 1));
    if (run.stride != 1) text += fmt::format(":{}", run.stride);
  }
  return text;
}

}  // namespace steplens::analysis::cluster
