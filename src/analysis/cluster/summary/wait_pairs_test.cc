#include "analysis/cluster/summary/wait_pairs.h"

#include <gtest/gtest.h>

namespace steplens::analysis::cluster {
namespace {

std::vector<std::string> Rows(const table::Table& table) {
  std::vector<std::string> rows(table.rows());
  for (const table::Column& column : table.columns()) {
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] += (rows[i].empty() ? "" : "|") + table::CellText(column, i);
  }
  return rows;
}

TEST(WaitPairs, DividesTheExampleOfWaits) {
  // a waits 3 ms for b and c, then a and b wait 4 ms for c.
  const CallMember call[] = {{0, 10'000'000}, {1, 7'000'000}, {2, 3'000'000}};
  WaitPairs pairs;
  pairs.AddCall("tp", call, 0);
  pairs.AddCall("tp", call, 0);
  EXPECT_EQ(Rows(pairs.ToTable({{0, 2}, {1, 2}}, 0)),
            (std::vector<std::string>{"0|2|tp|5.5|2", "1|2|tp|4|2", "0|1|tp|1.5|2"}));
  EXPECT_EQ(pairs.ToTable({{0, 2}, {1, 2}}, 2).rows(), 2u);
}

TEST(WaitPairs, SumToWhatIsSufferedAndCausedForAnyCall) {
  uint64_t dice = 1;
  for (size_t n = 2; n <= WaitPairs::kAllPairs; n += 3) {
    std::vector<CallMember> members;
    for (size_t i = 0; i < n; ++i) {
      dice = dice * 6364136223846793005u + 1442695040888963407u;
      members.push_back({static_cast<int64_t>(i), static_cast<int64_t>(dice >> 40)});
    }
    std::map<int64_t, WaitShare> shares;
    AttributeWaits(members, shares);
    WaitPairs pairs;
    pairs.AddCall("dp", members, 1e6);
    const table::Table table = pairs.ToTable({}, 0);
    std::map<int64_t, WaitShare> sums;
    for (size_t row = 0; row < table.rows(); ++row) {
      const double ns = table.Find("wait(ms/step)")->doubles[row] * 1e6;
      sums[table.Find("waitingRank")->ints[row]].suffered_ns += ns;
      sums[table.Find("blamedRank")->ints[row]].caused_ns += ns;
    }
    for (const auto& [rank, share] : shares) {
      EXPECT_NEAR(sums[rank].suffered_ns, share.suffered_ns, 1e-3) << n;
      EXPECT_NEAR(sums[rank].caused_ns, share.caused_ns, 1e-3) << n;
    }
  }
}

TEST(WaitPairs, LeavesOutOfALargeGroupWhatMattersToNobody) {
  // Ninety come together, then nine one after the other and the last much later.
  std::vector<CallMember> members;
  for (int64_t rank = 0; rank < 90; ++rank) members.push_back({rank, 20'000'000});
  for (int64_t rank = 90; rank < 99; ++rank) members.push_back({rank, 20'000'000 - rank});
  members.push_back({99, 10'000'000});
  WaitPairs pairs;
  pairs.AddCall("world", members, /*least_ns=*/1e6);
  const table::Table table = pairs.ToTable({}, 0);
  EXPECT_EQ(table.rows(), 99u);
  for (const int64_t blamed : table.Find("blamedRank")->ints) EXPECT_EQ(blamed, 99);
}

TEST(GroupWaits, AddsUpTheMembers) {
  const CallMember call[] = {{0, 10}, {1, 7}, {2, 3}};
  const CallPeers peers{3, 3, 3};
  const CallTimes times[] = {DivideCall(10, {}, peers), DivideCall(7, {}, peers),
                             DivideCall(3, {}, peers)};
  GroupWaits waits;
  waits.AddCall("g", call, times, /*is_whole=*/true);
  const GroupWaits::Group& group = waits.groups().at("g");
  EXPECT_EQ(group.calls, 1);
  EXPECT_EQ(group.wait_ns, 11);
  EXPECT_EQ(group.shares.at(2).caused_ns, 9.5);
}

// The wait that results state counts; nobody is blamed where a rank that was not captured may have
// come last.
TEST(GroupWaits, BlameNobodyForACallThatWasNotCapturedWhole) {
  const CallMember call[] = {{0, 100}, {1, 70}};
  const CallPeers peers{70, 2, 8};
  const CallTimes times[] = {
      DivideCall(100, RecordedTimes{TimesSource::kResults, 10, 25, 25}, peers),
      DivideCall(70, RecordedTimes{TimesSource::kResults, 10, 5, 5}, peers)};
  GroupWaits waits;
  waits.AddCall("g", call, times, /*is_whole=*/false);
  const GroupWaits::Group& group = waits.groups().at("g");
  EXPECT_EQ(group.wait_ns, 30);
  EXPECT_EQ(group.ranks, (std::set<int64_t>{0, 1}));
  EXPECT_TRUE(group.shares.empty());
}

TEST(GroupWaits, SayNothingOfCallsThatNobodyCanDivide) {
  const CallMember call[] = {{0, 100}};
  const CallTimes times[] = {DivideCall(100, {}, CallPeers{100, 1, 2})};
  GroupWaits waits;
  waits.AddCall("g", call, times, /*is_whole=*/false);
  EXPECT_TRUE(waits.groups().empty());
}

}  // namespace
}  // namespace steplens::analysis::cluster
