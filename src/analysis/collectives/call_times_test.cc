#include "analysis/collectives/call_times.h"

#include <gtest/gtest.h>

namespace steplens::analysis {
namespace {

using store::kNone;

TEST(DivideCall, WhatTheRankRecordedCountsBeforeArrivals) {
  const RecordedTimes recorded{TimesSource::kResults, 238, 0, 0};
  const CallTimes times = DivideCall(84'000, recorded, {.shortest_ns = 500, .captured = 2});
  EXPECT_EQ(times.source, TimesSource::kResults);
  EXPECT_EQ(times.transit_ns, 238);
  EXPECT_EQ(times.wait_ns, 0);
  EXPECT_EQ(times.idle_ns, 83'762);
}

TEST(DivideCall, ArrivalsServeWhereNothingWasRecorded) {
  const CallTimes times =
      DivideCall(1000, std::nullopt, {.shortest_ns = 200, .captured = 2, .members = 2});
  EXPECT_EQ(times.source, TimesSource::kArrivals);
  EXPECT_EQ(times.transit_ns, 200);
  EXPECT_EQ(times.wait_ns, 800);
  EXPECT_EQ(times.idle_ns, 0);
  EXPECT_FALSE(times.is_least_wait);
}

TEST(DivideCall, ArrivalsOfSomeRanksGiveTheLeastWait) {
  const CallPeers peers{.shortest_ns = 200, .captured = 2, .members = 8};
  EXPECT_TRUE(peers.is_partial());
  EXPECT_TRUE(DivideCall(1000, std::nullopt, peers).is_least_wait);
}

TEST(DivideCall, TheLastRankToArriveIsAllTransfer) {
  const RecordedTimes recorded{TimesSource::kResults, 999, 0, 0};
  const CallTimes times = DivideCall(1000, recorded, {.members = 2});
  EXPECT_EQ(times.source, TimesSource::kResults);
  EXPECT_EQ(times.transit_ns, 999);
  EXPECT_EQ(times.wait_ns, 0);
  EXPECT_EQ(times.idle_ns, 1);
}

TEST(LeavesTime, IsAboutMoreThanARoundingError) {
  EXPECT_FALSE(LeavesTime({TimesSource::kResults, 999, 0, 0}, 1000));
  EXPECT_TRUE(LeavesTime({TimesSource::kResults, 998, 0, 0}, 1000));
  EXPECT_TRUE(LeavesTime({TimesSource::kResults, 1000, 1, 0}, 1000));
}

TEST(DivideCall, OneRankWithoutRecordsIsNotDivided) {
  const CallTimes times = DivideCall(1000, std::nullopt, {.members = 8});
  EXPECT_EQ(times.source, TimesSource::kUnknown);
  EXPECT_EQ(times.elapse_ns, 1000);
  EXPECT_EQ(times.transit_ns, kNone);
  EXPECT_EQ(times.wait_ns, kNone);
  EXPECT_EQ(times.idle_ns, kNone);
}

TEST(DivideCall, PartsNeverExceedTheCall) {
  const RecordedTimes recorded{TimesSource::kTasks, 900, 400, 500};
  const CallTimes times = DivideCall(1000, recorded, {});
  EXPECT_EQ(times.transit_ns, 900);
  EXPECT_EQ(times.wait_ns, 100);
  EXPECT_EQ(times.synchronization_ns, 100);
  EXPECT_EQ(times.idle_ns, 0);
}

}  // namespace
}  // namespace steplens::analysis
