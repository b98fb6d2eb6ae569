#include "analysis/compare/collective_keys.h"

#include <gtest/gtest.h>

#include "analysis/viewer/test_rank.h"

namespace steplens::analysis {
namespace {

using viewer::TestRank;

TEST(CollectiveKeys, AreTheSameInTwoCapturesOfAJob) {
  TestRank first;
  first.Comm("hcom_allReduce__586_0_1", 100, 200, 256, "one586");
  first.Comm("hcom_allGather__771_0_1", 300, 400, 256, "two771");
  TestRank second;
  second.Comm("hcom_allReduce__271_0_1", 100, 200, 256, "one271");
  second.Comm("hcom_allGather__002_0_1", 300, 400, 256, "two002");
  const auto key = [](TestRank& rank, const char* name) {
    return CollectiveKeys(rank.store).at(*rank.store.strings.Find(name));
  };
  EXPECT_EQ(key(first, "hcom_allReduce__586_0_1"), "hcom_allReduce (group 1)");
  EXPECT_EQ(key(second, "hcom_allReduce__271_0_1"), "hcom_allReduce (group 1)");
  EXPECT_EQ(key(first, "hcom_allGather__771_0_1"), key(second, "hcom_allGather__002_0_1"));
}

TEST(CollectiveKeys, LeaveNamesWithoutNumbersAlone) {
  TestRank rank;
  rank.Comm("ncclDevKernel_AllReduce", 100, 200);
  EXPECT_TRUE(CollectiveKeys(rank.store).empty());
}

}  // namespace
}  // namespace steplens::analysis
