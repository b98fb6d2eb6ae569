#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_ask.h"

namespace steplens::analysis::cluster {
namespace {

void Notify(TestRank& rank, std::string_view op, std::string_view group, int64_t src, int64_t dst) {
  rank.store.comm_tasks.Append({.name = rank.Text("Notify_Record"),
                                .op_name = rank.Text(op),
                                .group_name = rank.Text(group),
                                .src_rank = src,
                                .dst_rank = dst});
}

Rows IdsOf(const std::vector<const TestRank*>& ranks, bool compat = false) {
  Options options;
  options.compat = compat;
  return Ask(P2PPairingRecipe(), ranks, options)->tables[0].table.Find("opConnectionId")->texts;
}

TEST(P2PPairing, BothEndsCarryTheSameId) {
  TestRank a(0);
  a.Comm("hcom_send__169_0_1", "169", 2000, 3000);
  Notify(a, "hcom_send__169_0_1", "169", 0, 1);
  TestRank b(4);
  b.Comm("hcom_receive__169_0_1", "169", 1500, 3000);
  Notify(b, "hcom_receive__169_0_1", "169", 1, 0);
  EXPECT_EQ(IdsOf({&a, &b}), (Rows{"169_0_1_0", "169_0_1_0"}));
}

TEST(P2PPairing, GroupsAreNumberedByThemselvesUnlessCompat) {
  TestRank a(0);
  for (const char* group : {"111", "222"}) {
    const std::string name = std::string("hcom_send__") + group + "_0_1";
    a.Comm(name, group, 2000 + a.next_connection * 1000, 9000);
    Notify(a, name, group, 0, 1);
  }
  EXPECT_EQ(IdsOf({&a}), (Rows{"111_0_1_0", "222_0_1_0"}));
  EXPECT_EQ(IdsOf({&a}, true), (Rows{"111_0_1_0", "222_0_1_1"}));
}

TEST(P2PPairing, AGroupOfTwoNeedsNoTasks) {
  TestRank b(4);
  b.Comm("hcom_receive__169_0_1", "169", 1500, 3000);
  b.Meta("parallel_group_info", R"({"169":{"group_name":"pp","global_ranks":[0,4]}})");
  const Result<Answer> answer = Ask(P2PPairingRecipe(), {&b});
  EXPECT_EQ(RowsOf(answer->tables[0].table),
            (Rows{"4|hcom_receive__169_0_1|169|1500|169_0_1_0|0|4"}));
}

TEST(P2PPairing, SeveralPeersGiveNoId) {
  TestRank a(0);
  a.Comm("hcom_send__169_0_1", "169", 2000, 3000);
  Notify(a, "hcom_send__169_0_1", "169", 0, 1);
  Notify(a, "hcom_send__169_0_1", "169", 0, 2);
  const Result<Answer> answer = Ask(P2PPairingRecipe(), {&a});
  EXPECT_EQ(answer->tables[0].table.rows(), 0u);
  EXPECT_EQ(answer->notes.at(0),
            "1 sends and receives have no id: their tasks do not name one peer");
  EXPECT_TRUE(answer->edits.empty());
}

}  // namespace
}  // namespace steplens::analysis::cluster
