#include "server/align_ranks.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace steplens::server {
namespace {

RankCollectives Ops(std::vector<std::pair<int64_t, int64_t>> times) {
  analysis::StoreBuilder builder;
  int number = 0;
  for (const auto& [begin, end] : times)
    builder.CommOp("hcom_allReduce__" + std::to_string(number++), begin, end);
  return CollectivesOf(builder.store);
}

TEST(AlignCollectives, LeavesRanksThatAgreeWhereTheyAre) {
  const AutoAlignment got = AlignCollectives({Ops({{10, 30}}), Ops({{20, 31}})}, {0, 0});
  EXPECT_EQ(got.offset_ns, (std::vector<int64_t>{0, 0}));
}

TEST(AlignCollectives, MovesARankAsLittleAsItMust) {
  // Rank 1 seems to begin 100 ns after rank 0 ended: its clock is at least 100 ns ahead.
  const AutoAlignment got = AlignCollectives({Ops({{10, 30}}), Ops({{130, 150}})}, {0, 0});
  EXPECT_EQ(got.offset_ns[1], 100);
  EXPECT_EQ(got.residual_ns[1], 40);  // up to 140 would do as well
}

TEST(AlignCollectives, MatchesFromTheEnd) {
  // Rank 1 recorded a warm-up collective more.
  const AutoAlignment got =
      AlignCollectives({Ops({{1000, 1010}}), Ops({{0, 10}, {5000, 5010}})}, {0, 0});
  EXPECT_EQ(got.matched[1], 1u);
  EXPECT_GE(got.offset_ns[1], 3990);
  EXPECT_LE(got.offset_ns[1], 4010);
}

TEST(AlignCollectives, TellsRanksThatShareNothing) {
  const AutoAlignment got = AlignCollectives({Ops({{1, 2}}), Ops({})}, {0, 7});
  EXPECT_EQ(got.matched[1], 0u);
  EXPECT_EQ(got.offset_ns[1], 7);
}

}  // namespace
}  // namespace steplens::server
