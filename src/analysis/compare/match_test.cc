#include "analysis/compare/match.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "analysis/testing/random.h"

namespace steplens::analysis::compare {
namespace {

std::vector<uint32_t> Ids(std::string_view text) { return {text.begin(), text.end()}; }

// "ab" for a pair of equal items, "a-" and "-b" for items alone.
std::string Matched(std::string_view base, std::string_view comparison) {
  std::string text;
  for (const Pair& pair : MatchSequences(Ids(base), Ids(comparison))) {
    if (!text.empty()) text += ' ';
    text += pair.base == kUnmatched ? '-' : base[pair.base];
    text += pair.comparison == kUnmatched ? '-' : comparison[pair.comparison];
  }
  return text;
}

// The same by the definition: quadratic, and recursive.
void MatchPlainly(std::span<const uint32_t> base, std::span<const uint32_t> comparison,
                  uint32_t base_at, uint32_t comparison_at, std::vector<Pair>& blocks) {
  size_t best = 0;
  size_t best_base = 0;
  size_t best_comparison = 0;
  for (size_t i = 0; i < base.size(); ++i) {
    for (size_t k = 0; k < comparison.size(); ++k) {
      size_t length = 0;
      while (i + length < base.size() && k + length < comparison.size() &&
             base[i + length] == comparison[k + length]) {
        ++length;
      }
      if (length <= best) continue;
      best = length;
      best_base = i;
      best_comparison = k;
    }
  }
  if (best == 0) return;
  MatchPlainly(base.first(best_base), comparison.first(best_comparison), base_at, comparison_at,
               blocks);
  for (size_t i = 0; i < best; ++i) {
    blocks.push_back({base_at + static_cast<uint32_t>(best_base + i),
                      comparison_at + static_cast<uint32_t>(best_comparison + i)});
  }
  MatchPlainly(base.subspan(best_base + best), comparison.subspan(best_comparison + best),
               base_at + static_cast<uint32_t>(best_base + best),
               comparison_at + static_cast<uint32_t>(best_comparison + best), blocks);
}

TEST(MatchSequences, MatchesTheLongestRunFirst) {
  EXPECT_EQ(Matched("abc", "abc"), "aa bb cc");
  EXPECT_EQ(Matched("abxcd", "abcd"), "aa bb x- cc dd");
  EXPECT_EQ(Matched("abcd", "abycd"), "aa bb -y cc dd");
  EXPECT_EQ(Matched("", "ab"), "-a -b");
  EXPECT_EQ(Matched("ab", ""), "a- b-");
  EXPECT_EQ(Matched("xy", "ab"), "x- y- -a -b");
}

TEST(MatchSequences, TakesTheFirstOfEqualRuns) {
  EXPECT_EQ(Matched("aa", "a"), "aa a-");
  EXPECT_EQ(Matched("a", "aa"), "aa -a");
  EXPECT_EQ(Matched("abab", "ba"), "a- bb aa b-");
}

TEST(MatchSequences, IsThePlainAlgorithmOnRandomSequences) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const int64_t names = 1 + RandomBelow(random, 4);
    const auto make = [&] {
      std::vector<uint32_t> ids(static_cast<size_t>(RandomBelow(random, 30)));
      for (uint32_t& id : ids) id = static_cast<uint32_t>(RandomBelow(random, names));
      return ids;
    };
    const std::vector<uint32_t> base = make();
    const std::vector<uint32_t> comparison = make();
    std::vector<Pair> expected;
    MatchPlainly(base, comparison, 0, 0, expected);
    std::vector<Pair> matched = MatchSequences(base, comparison);
    std::erase_if(matched, [](const Pair& pair) {
      return pair.base == kUnmatched || pair.comparison == kUnmatched;
    });
    EXPECT_EQ(matched, expected) << "round " << round;
  }
}

TEST(MatchSequences, IsNotQuadraticOnLongRepetitiveLists) {
  constexpr size_t kCount = 100000;
  std::vector<uint32_t> base(kCount);
  for (size_t i = 0; i < kCount; ++i) base[i] = static_cast<uint32_t>(i % 10);
  std::vector<uint32_t> comparison = base;
  for (const ptrdiff_t at : {20005, 50001, 80007}) {
    comparison.insert(comparison.begin() + at, 3);
  }
  // A quadratic matcher would take hours.
  const std::vector<Pair> pairs = MatchSequences(base, comparison);
  // The longest run lies between two insertions and meets the begin of the base, so that all before
  // it is left over: 50,000 pairs, and as many items of the base and 3 more of the comparison.
  EXPECT_EQ(pairs.size(), 150003U);
}

TEST(MatchSequences, IsNotQuadraticWhereOnlySingleItemsAgree) {
  const std::vector<uint32_t> base(50000, 1);
  std::vector<uint32_t> comparison(100000);
  for (size_t i = 0; i < comparison.size(); ++i) comparison[i] = static_cast<uint32_t>(i % 2);
  EXPECT_EQ(MatchSequences(base, comparison).size(), 100000U);
}

}  // namespace
}  // namespace steplens::analysis::compare
