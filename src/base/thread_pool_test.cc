#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>

namespace steplens {
namespace {

TEST(ThreadPool, CallsEachIndexOnce) {
  for (const size_t threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> calls(1000);
    pool.ParallelFor(calls.size(), [&](size_t i) { ++calls[i]; });
    for (const auto& count : calls) ASSERT_EQ(count.load(), 1);
  }
}

TEST(ThreadPool, NestedLoopsFinish) {
  ThreadPool pool(3);
  std::atomic<int> calls = 0;
  pool.ParallelFor(8, [&](size_t) { pool.ParallelFor(8, [&](size_t) { ++calls; }); });
  EXPECT_EQ(calls.load(), 64);
}

TEST(ThreadPool, ReturnsAtOnceWithoutWork) {
  ThreadPool pool(2);
  pool.ParallelFor(0, [](size_t) { FAIL(); });
}

TEST(ThreadPool, WhatATaskThrowsReachesWhoWaits) {
  for (const size_t threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    std::atomic<int> calls = 0;
    const auto run = [&] {
      pool.ParallelFor(1000, [&](size_t i) {
        ++calls;
        if (i == 3) throw std::bad_alloc();
      });
    };
    EXPECT_THROW(run(), std::bad_alloc);
    EXPECT_LT(calls.load(), 1000) << "those that had not begun do not begin";
    std::atomic<int> later = 0;
    pool.ParallelFor(10, [&](size_t) { ++later; });
    EXPECT_EQ(later.load(), 10) << "the pool goes on";
  }
}

}  // namespace
}  // namespace steplens
