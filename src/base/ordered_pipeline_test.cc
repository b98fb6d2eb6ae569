#include "base/ordered_pipeline.h"

#include <gtest/gtest.h>

#include <new>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace steplens {
namespace {

TEST(RunOrdered, ConsumesInTheOrderReadForAnyNumberOfThreads) {
  for (const size_t threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    int produced = 0;
    std::vector<int> out;
    struct Item {
      int in = 0;
      int squared = 0;
    };
    RunOrdered<Item>(
        pool,
        [&](Item& item) {
          item.in = produced++;
          return item.in < 500;
        },
        [](Item& item) { item.squared = item.in * item.in; },
        [&](Item& item) { out.push_back(item.squared); });
    ASSERT_EQ(out.size(), 500u);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], i * i);
  }
}

TEST(RunOrdered, ASlowConsumerIsAloneAndKeepsTheOrder) {
  ThreadPool pool(4);
  int produced = 0;
  std::atomic<int> inside{0};
  std::vector<int> out;
  RunOrdered<int>(
      pool,
      [&](int& item) {
        item = produced++;
        return item < 100;
      },
      [](int&) {},
      [&](int& item) {
        EXPECT_EQ(inside.fetch_add(1), 0);
        std::this_thread::sleep_for(std::chrono::microseconds(item % 3 == 0 ? 200 : 0));
        out.push_back(item);
        inside.fetch_sub(1);
      });
  ASSERT_EQ(out.size(), 100u);
  EXPECT_TRUE(std::is_sorted(out.begin(), out.end()));
}

TEST(RunOrdered, TakesNothingFromAnEmptySource) {
  ThreadPool pool(3);
  RunOrdered<int>(pool, [](int&) { return false; }, [](int&) { FAIL(); }, [](int&) { FAIL(); });
}

TEST(RunOrdered, WhatAStageThrowsEndsAllThreads) {
  for (const size_t threads : {1u, 2u, 7u}) {
    for (const int thrower : {0, 1, 2}) {
      ThreadPool pool(threads);
      int made = 0;
      const auto fail_at = [&](int stage, int item) {
        if (stage == thrower && item == 5) throw std::bad_alloc();
      };
      const auto run = [&] {
        RunOrdered<int>(
            pool,
            [&](int& item) {
              item = made++;
              fail_at(0, item);
              return item < 10'000;
            },
            [&](int& item) { fail_at(1, item); }, [&](int& item) { fail_at(2, item); });
      };
      EXPECT_THROW(run(), std::bad_alloc) << threads << " threads, stage " << thrower;
    }
  }
}

}  // namespace
}  // namespace steplens
