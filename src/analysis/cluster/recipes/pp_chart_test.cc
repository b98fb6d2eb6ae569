#include <fmt/format.h>

#include "analysis/cluster/recipes/dual_pipe.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_ask.h"

namespace steplens::analysis::cluster {
namespace {

std::string NamesOf(const std::vector<PipelineTask>& schedule) {
  std::string out;
  for (const PipelineTask& task : schedule) out += (out.empty() ? "" : " ") + task.name;
  return out;
}

TEST(DualPipeV, TheLastOfFourStagesWithTenMicroBatches) {
  EXPECT_EQ(NamesOf(DualPipeVSchedule(3, 4, 10)),
            "0 10 1 11 2 12 3 13 4F 10B 14F+0B 5F+11B 15F+1B 6F+12B 16F+2B 7F+13B 17F+3B 8F+14B "
            "18F+4B 9F+15B 19F+5B 16B 6B 17B 7B 18B 8B 19B 9B");
}

TEST(DualPipeV, StagesHaveTheKnownNumbersOfTasks) {
  for (const auto& [stage, count] : {std::pair(0, 44), {1, 32}, {2, 30}, {3, 29}})
    EXPECT_EQ(DualPipeVSchedule(stage, 4, 10).size(), static_cast<size_t>(count)) << stage;
}

// A mark on the host at `mark_ns` and its task of 100 ns.
void Pass(TestRank& rank, std::string_view message, int64_t mark_ns) {
  const int64_t connection = rank.next_connection++;
  const store::SliceId mark = rank.Slice(rank.host, mark_ns, mark_ns + 10, message);
  rank.store.markers.Append(
      {.slice = mark, .event_type = 2, .domain = rank.Text("default"), .correlation = connection});
  rank.Slice(rank.stream, mark_ns + 50, mark_ns + 150, "MSTX_EX", "MSTX_EX", connection);
}

TEST(PpChart, PassesAreNamedByTheirMarks) {
  TestRank a(0);
  Pass(a, "{'name': 'Forward_step'}", 1000);
  Pass(a, "optimizer", 2000);
  Pass(a, "{'name': 'backward_step'}", 3000);
  const Result<Answer> answer = Ask(PpChartRecipe(), {&a});
  EXPECT_EQ(RowsOf(answer->tables[0].table), (Rows{"0|FP|1050|1150|0", "0|BP|3050|3150|1"}));
  ASSERT_EQ(answer->edits.size(), 1u);
  EXPECT_EQ(RowsOf(answer->edits[0].table), (Rows{"FP|1050|1150|0", "BP|3050|3150|1"}));
}

TEST(PpChart, AnotherNumberOfPassesThanTheScheduleHasNoNames) {
  TestRank a(0);
  a.Meta("pp_info", R"({"pp_type":"dualpipev","microbatch_num":2})");
  a.Meta("distributed_args", R"({"world_size":1})");
  Pass(a, "forward", 1000);
  const Result<Answer> answer = Ask(PpChartRecipe(), {&a});
  EXPECT_EQ(answer->tables[0].table.Find("name")->texts, (Rows{""}));
  EXPECT_EQ(
      answer->notes.at(0),
      "1 step has another number of passes than the DualPipeV schedule; its rows have no names");
}

}  // namespace
}  // namespace steplens::analysis::cluster
