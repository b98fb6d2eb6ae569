#include "analysis/compare/match.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace steplens::analysis::compare {
namespace {

struct Block {
  size_t base;
  size_t comparison;
  size_t length;
};

// A stretch of both sequences that is still to be matched; no run in it is longer than `longest`.
struct Gap {
  size_t base_begin, base_end;
  size_t comparison_begin, comparison_end;
  size_t longest;
};

// Hashes of the runs of a sequence, from sums over its prefixes, modulo 2^61 - 1.
class RunHashes {
 public:
  explicit RunHashes(std::span<const uint32_t> ids) : prefix_(ids.size() + 1), power_(prefix_) {
    power_[0] = 1;
    for (size_t i = 0; i < ids.size(); ++i) {
      prefix_[i + 1] = Add(Multiply(prefix_[i], kBase), ids[i] + 1ULL);
      power_[i + 1] = Multiply(power_[i], kBase);
    }
  }
  uint64_t Of(size_t begin, size_t length) const {
    const uint64_t before = Multiply(prefix_[begin], power_[length]);
    return Add(prefix_[begin + length], kPrime - before);
  }

 private:
  static constexpr uint64_t kPrime = (1ULL << 61) - 1;
  static constexpr uint64_t kBase = 1000003;
  static uint64_t Add(uint64_t a, uint64_t b) {
    const uint64_t sum = a + b;
    return sum >= kPrime ? sum - kPrime : sum;
  }
  static uint64_t Multiply(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return Add(static_cast<uint64_t>(product & kPrime), static_cast<uint64_t>(product >> 61));
  }

  std::vector<uint64_t> prefix_;
  std::vector<uint64_t> power_;
};

class SequenceMatcher {
 public:
  SequenceMatcher(std::span<const uint32_t> base, std::span<const uint32_t> comparison)
      : base_(base), comparison_(comparison), base_hashes_(base), comparison_hashes_(comparison) {}

  std::vector<Block> Run() {
    gaps_.push_back({0, base_.size(), 0, comparison_.size(), comparison_.size()});
    while (!gaps_.empty()) {
      const Gap gap = gaps_.back();
      gaps_.pop_back();
      Divide(gap);
    }
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block& a, const Block& b) { return a.base < b.base; });
    return std::move(blocks_);
  }

 private:
  bool HasCommonRun(const Gap& gap, size_t length) {
    std::unordered_set<uint64_t> runs;
    for (size_t i = gap.comparison_begin; i + length <= gap.comparison_end; ++i) {
      runs.insert(comparison_hashes_.Of(i, length));
    }
    for (size_t i = gap.base_begin; i + length <= gap.base_end; ++i) {
      if (runs.contains(base_hashes_.Of(i, length))) return true;
    }
    return false;
  }

  // Of a common run every part is common, too: lengths can be searched by halves. Short ones first,
  // for most gaps are small and share little.
  size_t LongestCommonRun(const Gap& gap) {
    const size_t limit = std::min(
        {gap.longest, gap.base_end - gap.base_begin, gap.comparison_end - gap.comparison_begin});
    size_t good = 0;
    size_t bad = 1;
    while (bad <= limit && HasCommonRun(gap, bad)) {
      good = bad;
      bad *= 2;
    }
    bad = std::min(bad, limit + 1);
    while (bad - good > 1) {
      const size_t middle = good + (bad - good) / 2;
      (HasCommonRun(gap, middle) ? good : bad) = middle;
    }
    return good;
  }

  // Where each run of the length begins in the comparison; taken from the front.
  struct Places {
    std::vector<size_t> begins;
    size_t next = 0;
  };

  void Divide(Gap gap) {
    const size_t length = LongestCommonRun(gap);
    if (length == 0) return;
    std::unordered_map<uint64_t, Places> places;
    for (size_t i = gap.comparison_begin; i + length <= gap.comparison_end; ++i) {
      places[comparison_hashes_.Of(i, length)].begins.push_back(i);
    }
    for (size_t i = gap.base_begin; i + length <= gap.base_end;) {
      const auto found = places.find(base_hashes_.Of(i, length));
      if (found == places.end()) {
        ++i;
        continue;
      }
      Places& candidates = found->second;
      while (candidates.next < candidates.begins.size() &&
             candidates.begins[candidates.next] < gap.comparison_begin) {
        ++candidates.next;
      }
      if (candidates.next == candidates.begins.size() ||
          !IsSame(i, candidates.begins[candidates.next], length)) {
        ++i;
        continue;
      }
      const size_t at = candidates.begins[candidates.next];
      blocks_.push_back({i, at, length});
      AddGap({gap.base_begin, i, gap.comparison_begin, at, length - 1});
      gap.base_begin = i + length;
      gap.comparison_begin = at + length;
      i += length;
    }
    AddGap({gap.base_begin, gap.base_end, gap.comparison_begin, gap.comparison_end, length - 1});
  }

  bool IsSame(size_t base, size_t comparison, size_t length) const {
    return std::equal(base_.begin() + static_cast<ptrdiff_t>(base),
                      base_.begin() + static_cast<ptrdiff_t>(base + length),
                      comparison_.begin() + static_cast<ptrdiff_t>(comparison));
  }
  void AddGap(const Gap& gap) {
    if (gap.longest == 0 || gap.base_begin == gap.base_end ||
        gap.comparison_begin == gap.comparison_end) {
      return;
    }
    gaps_.push_back(gap);
  }

  std::span<const uint32_t> base_;
  std::span<const uint32_t> comparison_;
  RunHashes base_hashes_;
  RunHashes comparison_hashes_;
  std::vector<Gap> gaps_;
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<Pair> MatchSequences(std::span<const uint32_t> base,
                                 std::span<const uint32_t> comparison) {
  std::vector<Pair> pairs;
  pairs.reserve(std::max(base.size(), comparison.size()));
  uint32_t next_base = 0;
  uint32_t next_comparison = 0;
  const auto add_alone = [&](size_t base_end, size_t comparison_end) {
    while (next_base < base_end) pairs.push_back({next_base++, kUnmatched});
    while (next_comparison < comparison_end) pairs.push_back({kUnmatched, next_comparison++});
  };
  for (const Block& block : SequenceMatcher(base, comparison).Run()) {
    add_alone(block.base, block.comparison);
    for (size_t i = 0; i < block.length; ++i) pairs.push_back({next_base++, next_comparison++});
  }
  add_alone(base.size(), comparison.size());
  return pairs;
}

}  // namespace steplens::analysis::compare
