#include "analysis/cluster/recipes/marked_comm_ops.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_ask.h"

namespace steplens::analysis::cluster {
namespace {

constexpr const char* kMessage =
    R"({"streamId":"40","count":"1024","dataType":"fp32","groupName":"860","opName":"HcclAllreduce"})";

struct MarkedRank : TestRank {
  MarkedRank() : TestRank(0) {
    store.tracks.Append({.parent = store.tracks.parent[static_cast<size_t>(stream)],
                         .kind = Text("thread"),
                         .tid = Text("40"),
                         .name = Text("Stream 40")});
    stream40 = static_cast<store::TrackId>(store.tracks.size() - 1);
  }
  void Mark(std::string_view message, int64_t begin_ns, int64_t connection) {
    const store::SliceId slice = Slice(host, begin_ns, begin_ns + 10, message);
    store.markers.Append({.slice = slice, .correlation = connection});
  }
  store::TrackId stream40;
};

TEST(MarkedCommOps, TheTaskOfTheMarksConnection) {
  MarkedRank rank;
  rank.Mark(kMessage, 1000, 5);
  rank.Slice(rank.stream40, 500, 600, "earlier", "x", 4);
  rank.Slice(rank.stream40, 1100, 1200, "task", "x", 5);
  const std::vector<MarkedCommOp> ops = FindMarkedCommOps(rank.store, {});
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].name, "HcclAllreduce__860_0_1");
  EXPECT_EQ(ops[0].type, "HcclAllreduce_");
  EXPECT_EQ(ops[0].begin_ns, 1100);
  EXPECT_EQ(ops[0].count, 1024);
}

TEST(MarkedCommOps, WithoutConnectionTheFirstTaskOfTheStreamAfterTheMark) {
  MarkedRank rank;
  rank.Mark(kMessage, 1000, store::kNone);
  for (const int64_t begin_ns : {500, 1100, 1300})
    rank.Slice(rank.stream40, begin_ns, begin_ns + 50, "task", "x");
  const std::vector<MarkedCommOp> ops = FindMarkedCommOps(rank.store, {});
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].begin_ns, 1100);
  Options options;
  options.compat = true;
  EXPECT_EQ(FindMarkedCommOps(rank.store, options).size(), 3u);
}

TEST(MarkedCommOps, EscapedAndListedMessagesAreRead) {
  MarkedRank rank;
  rank.Mark(
      R"({\"streamId\":\"40\",\"count\":\"1\",\"dataType\":\"fp32\",\"groupName\":\"860\",\"opName\":\"A\"})",
      1000, 5);
  rank.Mark("comm:hcclAllReduce,860,fp32,7", 1000, 6);
  rank.Mark("{not json", 1000, 6);
  rank.Mark("a,b", 1000, 6);
  rank.Slice(rank.stream40, 1100, 1200, "task", "x", 5);
  rank.Slice(rank.stream40, 1300, 1400, "task", "x", 6);
  const std::vector<MarkedCommOp> ops = FindMarkedCommOps(rank.store, {});
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].type, "A_");
  EXPECT_EQ(ops[1].type, "hcom_AllReduce_");
  EXPECT_EQ(ops[1].count, 7);
}

TEST(Mstx2Commop, RecordedOperatorsAreLeftAlone) {
  MarkedRank rank;
  rank.Comm("hcom_allReduce__1_0_1", "g", 2000, 3000);
  rank.Mark(kMessage, 1000, 5);
  rank.Slice(rank.stream40, 1100, 1200, "task", "x", 5);
  const Result<Answer> answer = Ask(Mstx2CommopRecipe(), {&rank});
  EXPECT_TRUE(answer->edits.empty());
  EXPECT_EQ(answer->notes.at(0),
            "1 rank has recorded communication operators: nothing to do for them");
}

}  // namespace
}  // namespace steplens::analysis::cluster
