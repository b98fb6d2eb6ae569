#include "readers/ascend_db/id_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <random>

namespace steplens::readers {
namespace {

TEST(IdMap, FindsIdsOfSeveralRangesInAnyOrder) {
  IdMap<uint32_t> map(0);
  map.Add(int64_t{1} << 28, 4);
  map.Add(2, 3);
  map.Add(0, 1);
  map.Add((int64_t{1} << 28) + 1, 5);
  map.Build();
  EXPECT_EQ(map.Find(0), 1u);
  EXPECT_EQ(map.Find(2), 3u);
  EXPECT_EQ(map.Find((int64_t{1} << 28) + 1), 5u);
  EXPECT_EQ(map.Find(1), 0u);
  EXPECT_EQ(map.Find(-1), 0u);
  EXPECT_EQ(map.Find(77), 0u);
}

TEST(IdMap, LastOfEqualIdsCounts) {
  IdMap<uint32_t> map(0);
  map.Add(7, 1);
  map.Add(7, 2);
  map.Build();
  EXPECT_EQ(map.Find(7), 2u);
}

TEST(IdMap, EmptyMapFindsNothing) {
  IdMap<uint32_t> map(9);
  map.Build();
  EXPECT_EQ(map.Find(0), 9u);
}

TEST(IdMap, TakesTheSmallestAndLargestIds) {
  constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  IdMap<uint32_t> map(0);
  map.Add(kLargest, 2);
  map.Add(kSmallest, 1);
  map.Build();
  EXPECT_EQ(map.Find(kSmallest), 1u);
  EXPECT_EQ(map.Find(kLargest), 2u);
  EXPECT_EQ(map.Find(0), 0u);
}

TEST(IdMap, AgreesWithAnOrdinaryMapOnRandomIds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    IdMap<uint32_t> map(0);
    std::map<int64_t, uint32_t> expected;
    const int64_t spread = int64_t{1} << (random() % 40);
    for (uint32_t value = 1; value <= 100; ++value) {
      const auto id = static_cast<int64_t>(random() % static_cast<uint64_t>(spread)) - spread / 2;
      map.Add(id, value);
      expected[id] = value;
    }
    map.Build();
    for (const auto& [id, value] : expected) {
      ASSERT_EQ(map.Find(id), value);
      ASSERT_EQ(map.Find(id + 1), expected.contains(id + 1) ? expected[id + 1] : 0u);
    }
  }
}

}  // namespace
}  // namespace steplens::readers
