#include "base/team.h"

#include <gtest/gtest.h>

#include <atomic>

namespace steplens {
namespace {

TEST(LocalTeam, TakesEveryItemOnceInOrderForAnyNumberOfThreads) {
  for (const size_t threads : {size_t{1}, size_t{2}, size_t{7}}) {
    ThreadPool pool(threads);
    const std::unique_ptr<Team> team = MakeLocalTeam(pool);
    std::atomic<size_t> mapped = 0;
    std::string taken;
    size_t expected = 0;
    const Status status = team->MapInOrder(
        100,
        [&](size_t i) {
          ++mapped;
          return std::to_string(i) + " ";
        },
        [&](size_t i, std::string_view bytes) {
          EXPECT_EQ(i, expected++);
          taken += bytes;
        });
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(mapped, 100u);
    EXPECT_TRUE(taken.starts_with("0 1 2 3 "));
    EXPECT_TRUE(taken.ends_with("98 99 "));
  }
}

TEST(LocalTeam, NoItemsIsDone) {
  ThreadPool pool(2);
  const std::unique_ptr<Team> team = MakeLocalTeam(pool);
  EXPECT_TRUE(team->is_root());
  EXPECT_EQ(team->members(), 1u);
  const Status status = team->MapInOrder(
      0, [](size_t) { return std::string(); }, [](size_t, std::string_view) { FAIL(); });
  EXPECT_TRUE(status.ok());
}

}  // namespace
}  // namespace steplens
