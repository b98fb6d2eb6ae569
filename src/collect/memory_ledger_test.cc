#include "collect/memory_ledger.h"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

namespace steplens::collect {
namespace {

using Row =
    std::tuple<uint64_t, int64_t, int64_t, int64_t, int>;  // time, address, size, total, kind

class Ledger : public testing::Test {
 protected:
  void Malloc(uint64_t time, int64_t address, int64_t size) {
    ledger_.Add({time, address, size, 1, 20, 0});
  }
  void Free(uint64_t time, int64_t address) { ledger_.Add({time, address, 0, 2, 20, 0}); }
  std::vector<Row> Settle(uint64_t until = std::numeric_limits<uint64_t>::max()) {
    std::vector<Row> rows;
    ledger_.Settle(until, [&](const sl_memory& event, uint64_t) {
      rows.emplace_back(event.time, event.address, event.size, event.total_allocated, event.kind);
    });
    return rows;
  }

  MemoryLedger ledger_;
};

TEST_F(Ledger, KeepsSizesAndTotals) {
  Malloc(1, 0x10, 64);
  Malloc(2, 0x20, 32);
  Free(3, 0x10);
  EXPECT_EQ(Settle(), (std::vector<Row>{{1, 0x10, 64, 64, SL_MALLOC},
                                        {2, 0x20, 32, 96, SL_MALLOC},
                                        {3, 0x10, -64, 32, SL_FREE}}));
  Free(4, 0x20);
  EXPECT_EQ(Settle(), (std::vector<Row>{{4, 0x20, -32, 0, SL_FREE}}));
}

TEST_F(Ledger, AFreeThatIsSeenFirstWaitsForItsBlock) {
  Free(7, 0x10);  // on a thread whose ring was drained before the other's
  EXPECT_TRUE(Settle(6).empty());
  Malloc(5, 0x10, 8);
  EXPECT_EQ(Settle(9), (std::vector<Row>{{5, 0x10, 8, 8, SL_MALLOC}, {7, 0x10, -8, 0, SL_FREE}}));
}

TEST_F(Ledger, WhatIsNewerWaits) {
  Malloc(5, 0x10, 8);
  Malloc(15, 0x20, 8);
  EXPECT_EQ(Settle(10).size(), 1u);
  EXPECT_EQ(Settle(10).size(), 0u);
  EXPECT_EQ(Settle(16).size(), 1u);
}

TEST_F(Ledger, BlocksFromBeforeTheCaptureAreLeftOut) {
  Free(1, 0x10);
  EXPECT_TRUE(Settle().empty());
}

TEST_F(Ledger, AnAddressThatComesAgainWithoutItsFreeCountsOnce) {
  Malloc(1, 0x10, 64);
  Malloc(2, 0x10, 16);
  EXPECT_EQ(std::get<3>(Settle().back()), 16);
}

TEST_F(Ledger, SameTimesKeepTheirOrder) {
  Malloc(1, 0x10, 64);
  Free(1, 0x10);
  Malloc(1, 0x10, 32);
  const auto rows = Settle();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(std::get<3>(rows[1]), 0);
  EXPECT_EQ(std::get<3>(rows[2]), 32);
}

}  // namespace
}  // namespace steplens::collect
