#include "readers/chrome/flow_pairing.h"

#include <gtest/gtest.h>

namespace steplens::readers {
namespace {

FlowEnd At(uint64_t key, int64_t ts_ns) {
  return {key, ~key, ts_ns, store::kNone, store::TrackId{0}, {}};
}

TEST(PairFlows, JoinsAnEndWithTheStartThatPrecedesItMostClosely) {
  store::FlowTable flows;
  const std::vector<FlowEnd> starts{At(1, 30), At(2, 5), At(1, 10), At(1, 20)};
  const PairedFlows paired = PairFlows(starts, {At(1, 25), At(2, 7), At(1, 5), At(1, 20)}, flows);
  ASSERT_EQ(flows.size(), 4u);
  EXPECT_EQ(flows.from_ns[0], 20);
  EXPECT_EQ(flows.from_ns[1], 5);
  EXPECT_EQ(flows.from_ns[2], 10) << "none precedes: the first";
  EXPECT_EQ(flows.from_ns[3], 20);
  EXPECT_EQ(paired.ends.count, 0u);
  EXPECT_EQ(paired.starts.count, 0u);
}

TEST(PairFlows, CountsWhatIsLeftOver) {
  store::FlowTable flows;
  const PairedFlows paired =
      PairFlows({At(1, 30), At(1, 10), At(2, 5), At(4, 7)}, {At(3, 1), At(2, 6), At(5, 2)}, flows);
  EXPECT_EQ(flows.size(), 1u);
  EXPECT_EQ(paired.ends.count, 2u);
  EXPECT_EQ(paired.ends.example.ts_ns, 1);
  EXPECT_EQ(paired.starts.count, 3u);
  EXPECT_EQ(paired.starts.example.ts_ns, 7) << "the earliest of them";
}

TEST(PairFlows, KeysThatShareHalfAreStillDifferent) {
  store::FlowTable flows;
  const FlowEnd start{7, 1, 0, store::kNone, store::TrackId{0}, {}};
  const FlowEnd end{7, 2, 1, store::kNone, store::TrackId{0}, {}};
  EXPECT_EQ(PairFlows({start}, {end}, flows).ends.count, 1u);
  EXPECT_EQ(PairFlows({}, {end}, flows).ends.count, 1u);
}

}  // namespace
}  // namespace steplens::readers
