#include "analysis/cluster/recipes/recipe_testing.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

constexpr int64_t kRange = 2;
constexpr int64_t kMark = 3;

struct MarkedRank : StoreBuilder {
  store::TrackId python = ThreadOf("Python", "Thread 1");
  store::TrackId mstx = ThreadOf("MSTX", "Thread 1");
  store::TrackId stream = ThreadOf("Ascend Hardware", "Stream 1");

  void Add(int64_t event_type, std::string_view name, int64_t begin_ns, int64_t end_ns,
           int64_t correlation = store::kNone) {
    const store::SliceId slice = Slice(mstx, begin_ns, end_ns, name);
    store.markers.Append({.slice = slice, .event_type = event_type, .correlation = correlation});
  }
  // The mark's operator in Python and its task on the device.
  void Link(int64_t correlation, int64_t op_ns, int64_t task_ns) {
    Slice(python, op_ns, op_ns + 1, "mstx_mark", "cpu_op");
    Slice(stream, task_ns, task_ns + 1, "mark", "MSTX_EX", correlation);
    Flow("async_npu", python, op_ns, stream, task_ns);
  }
};

TEST(MstxSum, PairsMarksAndFollowsTheirLinks) {
  MarkedRank rank;
  rank.Add(kMark, "load_start", 10, 10, 1);
  rank.Add(kMark, "load_stop", 40, 40, 2);
  rank.Add(kMark, "load_stop", 50, 50, 3);  // nothing open
  rank.Link(1, 5, 100);
  rank.Link(2, 25, 170);
  const Answer answer = AskRecipe(MstxSumRecipe(), {}, {&rank});
  const table::Table& marks = TableOf(answer, "MSTXMarkStats");
  ASSERT_EQ(marks.rows(), 1u);
  EXPECT_EQ(Cell(marks, "Name", 0), "load");
  EXPECT_EQ(marks.Find("FrameworkDurationNs")->doubles[0], 20);
  EXPECT_EQ(marks.Find("CannDurationNs")->doubles[0], 30);
  EXPECT_EQ(marks.Find("DeviceDurationNs")->doubles[0], 70);
  ASSERT_EQ(answer.notes.size(), 1u);
  EXPECT_TRUE(answer.notes[0].starts_with("1 mark X_start"));

  Options compat;
  compat.compat = true;
  const Answer theirs = AskRecipe(MstxSumRecipe(), compat, {&rank});
  EXPECT_EQ(TableOf(theirs, "MSTXMarkStats").Find("DeviceDurationNs")->doubles[0], 0);
}

TEST(MstxSum, NamesRangesByTheirPathAndNumbersRepeats) {
  MarkedRank rank;
  rank.Add(kRange, "step", 0, 100, 1);
  rank.Add(kRange, "fwd", 10, 20, 2);
  rank.Add(kRange, "fwd", 30, 40, 3);
  rank.Add(kRange, "host only", 50, 60);
  rank.Slice(rank.stream, 5, 9, "fwd", "MSTX_EX", 2);
  const Answer answer = AskRecipe(MstxSumRecipe(), {}, {&rank});
  const table::Table& marks = TableOf(answer, "MSTXMarkStats");
  ASSERT_EQ(marks.rows(), 3u);
  EXPECT_EQ(Cell(marks, "Name", 0), "step");
  EXPECT_EQ(Cell(marks, "Name", 1), "step::fwd_0");
  EXPECT_EQ(Cell(marks, "Name", 2), "step::fwd_1");
  EXPECT_EQ(marks.Find("DeviceDurationNs")->doubles[1], 4);
}

TEST(MstxSum, ComparesRanksStepByStep) {
  MarkedRank first;
  MarkedRank second;
  first.Add(kRange, "fwd", 10, 20, 1);
  second.Add(kRange, "fwd", 10, 50, 1);
  for (MarkedRank* rank : {&first, &second}) rank->Step(3, 0, 100);
  const Answer answer = AskRecipe(MstxSumRecipe(), {}, {&first, &second});
  const table::Table& cann = TableOf(answer, "MSTXAllCannStats");
  ASSERT_EQ(cann.rows(), 1u);
  EXPECT_EQ(Cell(cann, "StepId", 0), "3");
  EXPECT_EQ(Cell(cann, "MaxRank", 0), "1");
  // max 40, third quartile 32.5, sum 50
  EXPECT_EQ(cann.Find("Dispersion(%)")->doubles[0], 15);
  EXPECT_EQ(Cell(TableOf(answer, "MSTXAllDeviceStats"), "MaxRank", 0), "");  // nothing measured
}

}  // namespace
}  // namespace steplens::analysis::cluster
