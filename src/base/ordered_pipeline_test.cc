#include "base/ordered_pipeline.h"

#include <gtest/gtest.h>

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

TEST(RunOrdered, TakesNothingFromAnEmptySource) {
  ThreadPool pool(3);
  RunOrdered<int>(pool, [](int&) { return false; }, [](int&) { FAIL(); }, [](int&) { FAIL(); });
}

}  // namespace
}  // namespace steplens
