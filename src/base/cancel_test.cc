#include "base/cancel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/thread_pool.h"

namespace steplens {
namespace {

// Longer than the time after which a scope is asked.
void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

TEST(Cancel, AScopeThatIsNotWantedCancelsWhatRunsInItAlone) {
  EXPECT_FALSE(IsCancelled());
  {
    std::atomic<bool> is_unwanted{false};
    const CancelScope scope([&] { return is_unwanted.load(); });
    Pause();
    EXPECT_FALSE(IsCancelled());
    is_unwanted = true;
    Pause();
    EXPECT_TRUE(IsCancelled());
    is_unwanted = false;
    Pause();
    EXPECT_TRUE(IsCancelled()) << "once given up, always given up";
    bool elsewhere = true;
    std::thread([&] { elsewhere = IsCancelled(); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(IsCancelled());
}

TEST(Cancel, AScopeThatGaveUpIsNotAskedAgain) {
  int asked = 0;
  const CancelScope scope([&] { return ++asked > 0; });
  Pause();
  EXPECT_TRUE(IsCancelled());
  Pause();
  EXPECT_TRUE(IsCancelled());
  EXPECT_EQ(asked, 1);
}

TEST(Cancel, OuterScopesCountAsWell) {
  const CancelScope outer([] { return true; });
  const CancelScope inner([] { return false; });
  const CancelScope empty({});
  Pause();
  EXPECT_TRUE(IsCancelled());
}

TEST(Cancel, ThreadsOfAPoolWorkForTheScopeOfTheCaller) {
  ThreadPool pool(4);
  std::atomic<int> cancelled{0};
  {
    const CancelScope scope([] { return true; });
    Pause();
    pool.ParallelFor(64, [&](size_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      cancelled += IsCancelled() ? 1 : 0;
    });
  }
  EXPECT_EQ(cancelled, 64);
  pool.ParallelFor(64, [&](size_t) { cancelled += IsCancelled() ? 1 : 0; });
  EXPECT_EQ(cancelled, 64) << "and for nobody's afterwards";
}

}  // namespace
}  // namespace steplens
