#include "analysis/cluster/summary/waits.h"

#include <gtest/gtest.h>

namespace steplens::analysis::cluster {
namespace {

TEST(AttributeWaits, BlamesThoseWhoWereNotThereYet) {
  std::map<int64_t, WaitShare> shares;
  AttributeWaits(std::vector<CallMember>{{0, 10}, {1, 7}, {2, 3}}, shares);
  EXPECT_DOUBLE_EQ(shares[0].suffered_ns, 7);
  EXPECT_DOUBLE_EQ(shares[1].suffered_ns, 4);
  EXPECT_DOUBLE_EQ(shares[2].suffered_ns, 0);
  EXPECT_DOUBLE_EQ(shares[0].caused_ns, 0);
  EXPECT_DOUBLE_EQ(shares[1].caused_ns, 1.5);
  EXPECT_DOUBLE_EQ(shares[2].caused_ns, 9.5);
}

TEST(AttributeWaits, CausedAndSufferedAreEqualOverACall) {
  std::map<int64_t, WaitShare> shares;
  AttributeWaits(std::vector<CallMember>{{3, 5}, {1, 90}, {8, 5}, {2, 41}, {7, 90}}, shares);
  double suffered = 0;
  double caused = 0;
  for (const auto& [rank, share] : shares) {
    suffered += share.suffered_ns;
    caused += share.caused_ns;
  }
  EXPECT_DOUBLE_EQ(suffered, caused);
  EXPECT_DOUBLE_EQ(shares[3].caused_ns, shares[8].caused_ns) << "both came last";
}

TEST(AttributeWaits, OneMemberAloneWaitsForNobody) {
  std::map<int64_t, WaitShare> shares;
  AttributeWaits(std::vector<CallMember>{{0, 10}}, shares);
  EXPECT_TRUE(shares.empty());
}

}  // namespace
}  // namespace steplens::analysis::cluster
