#include "readers/chrome/flow_pairing.h"

#include <gtest/gtest.h>

namespace steplens::readers {
namespace {

FlowEnd At(uint64_t key, int64_t ts_ns) {
  return {key, ~key, ts_ns, store::kNone, store::TrackId{0}, {}};
}

TEST(PairFlows, JoinsAnEndWithTheStartThatPrecedesItMostClosely) {
  store::FlowTable flows;
  const LooseFlows left = PairFlows({.starts = {At(1, 30), At(2, 5), At(1, 10), At(1, 20)},
                                     .ends = {At(1, 25), At(2, 7), At(1, 5), At(1, 20)}},
                                    flows);
  ASSERT_EQ(flows.size(), 4u);
  EXPECT_EQ(flows.from_ns[0], 20);
  EXPECT_EQ(flows.from_ns[1], 5);
  EXPECT_EQ(flows.from_ns[2], 10) << "none precedes: the first";
  EXPECT_EQ(flows.from_ns[3], 20);
  EXPECT_TRUE(left.ends.empty());
  EXPECT_TRUE(left.starts.empty());
}

TEST(PairFlows, WhatIsLeftOverIsCountedWithTheEarliestAsExample) {
  store::TraceStore store;
  const LooseFlows left = PairFlows({.starts = {At(1, 30), At(1, 10), At(2, 5), At(4, 7)},
                                     .ends = {At(5, 2), At(2, 6), At(3, 1)}},
                                    store.flows);
  EXPECT_EQ(store.flows.size(), 1u);
  EXPECT_EQ(left.ends.size(), 2u);
  EXPECT_EQ(left.starts.size(), 3u);
  CountLoose(left, "a trace", store);
  const auto& ends = store.issues.entry(store::IssueKind::kFlowWithoutStart);
  EXPECT_EQ(ends.count, 2u);
  EXPECT_EQ(ends.example, "a trace: flow '' at 1 ns");
  const auto& starts = store.issues.entry(store::IssueKind::kFlowWithoutEnd);
  EXPECT_EQ(starts.count, 3u);
  EXPECT_EQ(starts.example, "a trace: flow '' at 7 ns");
}

TEST(PairFlows, KeysThatShareHalfAreStillDifferent) {
  store::FlowTable flows;
  const FlowEnd start{7, 1, 0, store::kNone, store::TrackId{0}, {}};
  const FlowEnd end{7, 2, 1, store::kNone, store::TrackId{0}, {}};
  EXPECT_EQ(PairFlows({.starts = {start}, .ends = {end}}, flows).ends.size(), 1u);
  EXPECT_EQ(PairFlows({.starts = {}, .ends = {end}}, flows).ends.size(), 1u);
}

}  // namespace
}  // namespace steplens::readers
