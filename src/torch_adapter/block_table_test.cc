#include "torch_adapter/block_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

namespace steplens::torch_adapter {
namespace {

const void* Block(uint64_t number) { return reinterpret_cast<const void*>(number * 64); }

TEST(BlockTable, ForgetsWhatItGaveBack) {
  BlockTable table;
  table.Insert(Block(1), 100);
  EXPECT_EQ(table.Remove(Block(1)), 100);
  EXPECT_EQ(table.Remove(Block(1)), -1);
  EXPECT_EQ(table.Remove(Block(2)), -1);
}

TEST(BlockTable, AgreesWithAMapOverRandomCalls) {
  BlockTable table;
  std::map<uint64_t, int64_t> expected;
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t number = 1 + random() % 5000;
    if (random() % 2 == 0) {
      table.Insert(Block(number), i);
      expected[number] = i;
      continue;
    }
    const auto found = expected.find(number);
    ASSERT_EQ(table.Remove(Block(number)), found == expected.end() ? -1 : found->second);
    if (found != expected.end()) expected.erase(found);
  }
}

TEST(BlockTable, KeepsBlocksOfManyThreadsApart) {
  BlockTable table;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&table, &wrong, thread] {
      for (uint64_t i = 0; i < 20'000; ++i)
        table.Insert(Block(1 + i * 4 + thread), static_cast<int64_t>(i));
      for (uint64_t i = 0; i < 20'000; ++i) {
        if (table.Remove(Block(1 + i * 4 + thread)) != static_cast<int64_t>(i)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace steplens::torch_adapter
