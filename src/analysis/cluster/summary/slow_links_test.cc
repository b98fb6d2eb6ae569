#include "analysis/cluster/summary/slow_links.h"

#include <gtest/gtest.h>

#include "analysis/cluster/summary/small_packets.h"

namespace steplens::analysis::cluster {
namespace {

// All links of eight ranks at 10 GB/s but those that `is_slow` picks.
template <typename IsSlow>
std::vector<LinkTotal> Mesh(IsSlow is_slow) {
  std::vector<LinkTotal> links;
  for (int64_t src = 0; src < 8; ++src) {
    for (int64_t dst = 0; dst < 8; ++dst) {
      if (src == dst) continue;
      links.push_back({src, dst, "HCCS", "allreduce-total", 100, is_slow(src, dst) ? 40.0 : 10.0});
    }
  }
  return links;
}

TEST(FindSlowLinks, FindsNothingWhereAllAreAlike) {
  EXPECT_TRUE(FindSlowLinks(Mesh([](int64_t, int64_t) { return false; }), 2).empty());
}

TEST(FindSlowLinks, TellsALinkFromASenderAndAReceiver) {
  const auto link = FindSlowLinks(Mesh([](int64_t s, int64_t d) { return s == 2 && d == 5; }), 2);
  ASSERT_EQ(link.size(), 1u);
  EXPECT_EQ(link[0].kind, LinkClass::kLink);
  EXPECT_EQ(link[0].src, 2);
  EXPECT_EQ(link[0].dst, 5);
  EXPECT_DOUBLE_EQ(link[0].lost_ms, 15) << "30 ms in two steps";

  const auto row = FindSlowLinks(Mesh([](int64_t s, int64_t) { return s == 3; }), 2);
  ASSERT_EQ(row.size(), 1u);
  EXPECT_EQ(row[0].kind, LinkClass::kSender);
  EXPECT_EQ(row[0].src, 3);
  EXPECT_EQ(row[0].links, 7u);

  const auto column = FindSlowLinks(Mesh([](int64_t, int64_t d) { return d == 4; }), 2);
  ASSERT_EQ(column.size(), 1u);
  EXPECT_EQ(column[0].kind, LinkClass::kReceiver);
  EXPECT_EQ(column[0].dst, 4);
}

TEST(FindSlowLinks, CostsTheSameInManySteps) {
  std::vector<LinkTotal> links;
  for (int step = 0; step < 8; ++step) {
    const auto more = Mesh([](int64_t s, int64_t d) { return s == 2 && d == 5; });
    links.insert(links.end(), more.begin(), more.end());
  }
  const auto found = FindSlowLinks(links, 8);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_DOUBLE_EQ(found[0].lost_ms, 30) << "in each step";
}

TEST(FindSlowLinks, AddsUpWhatALinkCostsInSeveralOperations) {
  std::vector<LinkTotal> links = Mesh([](int64_t s, int64_t d) { return s == 2 && d == 5; });
  std::vector<LinkTotal> gathers = links;
  for (LinkTotal& link : gathers) link.op = "allgather-total";
  links.insert(links.end(), gathers.begin(), gathers.end());
  const auto found = FindSlowLinks(links, 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].links, 1u);
  EXPECT_DOUBLE_EQ(found[0].lost_ms, 60);
  EXPECT_EQ(found[0].extras.size(), 2u);
}

TEST(FindSlowLinks, ComparesLinksOfOneKindOnly) {
  std::vector<LinkTotal> links = Mesh([](int64_t, int64_t) { return false; });
  for (int64_t i = 0; i < 4; ++i) links.push_back({i, i + 4, "RDMA", "send-total", 100, 50});
  EXPECT_TRUE(FindSlowLinks(links, 2).empty()) << "RDMA is slower than HCCS by nature";
}

TEST(FindSmallPackets, NamesATransportThatIsSlowBecauseOfThem) {
  const std::vector<PacketTotal> totals = {
      {0, "RDMA", 100, 40, 40, 40},   // 2.5 GB/s, all small
      {1, "RDMA", 100, 8.5, 8.5, 0},  // large and fast
      {2, "HCCS", 100, 6, 6, 6},      // small, but fast all the same
  };
  const std::vector<SmallPackets> found = FindSmallPackets(totals, 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].transport, "RDMA");
  EXPECT_EQ(found[0].ranks, (std::vector<int64_t>{0}));
  EXPECT_DOUBLE_EQ(found[0].lost_ms, 32);
}

TEST(FindSmallPackets, BlamesNoPacketsThatOthersSendFast) {
  std::vector<PacketTotal> totals = {{0, "RDMA", 100, 40, 40, 40}};
  for (int64_t rank = 1; rank < 4; ++rank) totals.push_back({rank, "RDMA", 100, 8.5, 8.5, 8.5});
  EXPECT_TRUE(FindSmallPackets(totals, 1).empty());
}

}  // namespace
}  // namespace steplens::analysis::cluster
