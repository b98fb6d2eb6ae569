#include "base/run_division.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace steplens {
namespace {

TEST(RunDivision, GivesEveryItemAwayOnceForAnyNumberOfMembers) {
  for (const size_t count : std::initializer_list<size_t>{0, 1, 2, 7, 100, 1024, 10000}) {
    for (const size_t members : std::initializer_list<size_t>{1, 2, 3, 64}) {
      RunDivision division(count, members);
      size_t next = 0;
      const auto take = [&](const ItemRun& run) {
        EXPECT_EQ(run.begin, next);
        next = run.end;
      };
      for (size_t member = 0; member < members; ++member) take(division.First(member));
      for (ItemRun run = division.Next(); !run.empty(); run = division.Next()) take(run);
      EXPECT_EQ(next, count);
      EXPECT_TRUE(division.Next().empty());
    }
  }
}

TEST(RunDivision, RunsBecomeShorterUntilTheyAreOne) {
  RunDivision division(1024, 2);
  EXPECT_EQ(division.First(0), (ItemRun{0, 256}));
  EXPECT_EQ(division.First(1), (ItemRun{256, 512}));
  std::vector<size_t> sizes;
  for (ItemRun run = division.Next(); !run.empty(); run = division.Next())
    sizes.push_back(run.size());
  EXPECT_EQ(sizes.front(), 128u);
  EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
  EXPECT_EQ(sizes.back(), 1u);
}

TEST(RunDivision, RunsAreNeverLong) {
  RunDivision division(1'000'000, 2);
  EXPECT_EQ(division.First(0).size(), 256u);
  EXPECT_EQ(division.Next().size(), 256u);
}

TEST(RunDivision, FewItemsAreAskedForOneByOne) {
  RunDivision division(3, 2);
  EXPECT_TRUE(division.First(0).empty());
  EXPECT_EQ(division.Next(), (ItemRun{0, 1}));
}

}  // namespace
}  // namespace steplens
