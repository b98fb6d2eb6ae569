#include <cmath>

#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/recipes/test_ask.h"

namespace steplens::analysis::cluster {
namespace {

constexpr int64_t kUs = 1000;

// One step with a collective (or what `comm` names) of a group whose members the metadata lists.
TestRank StepRank(int64_t rank, std::string_view comm, int64_t dur_us, std::string_view members) {
  TestRank out(rank);
  out.Step(7, 0, 1000 * kUs);
  out.Comm(comm, "g", 100 * kUs, (100 + dur_us) * kUs);
  out.Meta("parallel_group_info",
           std::string(R"({"g":{"group_name":"dp","global_ranks":)") + std::string(members) + "}}");
  return out;
}

const std::vector<double>& ColumnOf(const Result<Answer>& answer, const char* name) {
  return answer->tables[0].table.Find(name)->doubles;
}

TEST(ClusterTimeSummary, CompleteGroupsAreComparedForWaitAndTransmit) {
  const TestRank a = StepRank(0, "hcom_allReduce__1_0_1", 500, "[0,1]");
  const TestRank b = StepRank(1, "hcom_allReduce__1_0_1", 200, "[0,1]");
  const Result<Answer> answer = Ask(ClusterTimeSummaryRecipe(), {&a, &b});
  EXPECT_EQ(ColumnOf(answer, "communicationTransmitStageTime"), (std::vector<double>{200, 200}));
  EXPECT_EQ(ColumnOf(answer, "communicationWaitStageTime"), (std::vector<double>{300, 0}));
}

TEST(ClusterTimeSummary, ASendIsComparedWithItsReceive) {
  const TestRank a = StepRank(0, "hcom_send__1_0_1", 500, "[0,1]");
  const TestRank b = StepRank(1, "hcom_receive__1_0_1", 200, "[0,1]");
  const Result<Answer> answer = Ask(ClusterTimeSummaryRecipe(), {&a, &b});
  EXPECT_EQ(ColumnOf(answer, "communicationTransmitStageTime"), (std::vector<double>{200, 200}));
}

TEST(ClusterTimeSummary, IncompleteGroupsLeaveWaitAndTransmitUnknown) {
  const TestRank a = StepRank(0, "hcom_allReduce__1_0_1", 500, "[0,1,2]");
  const TestRank b = StepRank(1, "hcom_allReduce__1_0_1", 200, "[0,1,2]");
  const Result<Answer> answer = Ask(ClusterTimeSummaryRecipe(), {&a, &b});
  EXPECT_TRUE(std::isnan(ColumnOf(answer, "communicationTransmitStageTime")[0]));
  EXPECT_EQ(ColumnOf(answer, "stepTime"), (std::vector<double>{1000, 1000}));
  EXPECT_EQ(answer->notes.size(), 1u);
}

TEST(ClusterTimeSummary, CommunicationResultsAreBelievedFirst) {
  TestRank a = StepRank(0, "hcom_allReduce__1_0_1", 500, "[0]");
  a.store.comm_times.Append({.step = a.Text("step7"),
                             .op_name = a.Text("hcom_allReduce__1_0_1"),
                             .transit_ms = 0.25,
                             .wait_ms = 0.125});
  const Result<Answer> answer = Ask(ClusterTimeSummaryRecipe(), {&a});
  EXPECT_EQ(ColumnOf(answer, "communicationTransmitStageTime"), (std::vector<double>{250}));
  EXPECT_EQ(ColumnOf(answer, "communicationWaitStageTime"), (std::vector<double>{125}));
}

// Two copies that overlap each other, 10..40 and 20..60 us, and a kernel from 50 us.
TEST(ClusterTimeSummary, CopiesThatOverlapEachOtherAreLostInCompatModeOnly) {
  TestRank a(0);
  a.Step(7, 0, 1000 * kUs);
  a.Slice(a.stream, 10 * kUs, 40 * kUs, "MEMCPY_ASYNC", "MEMCPY_ASYNC");
  a.Slice(a.stream, 20 * kUs, 60 * kUs, "MEMCPY_ASYNC", "MEMCPY_ASYNC");
  a.Slice(a.cann, 5 * kUs, 6 * kUs, "Node@launch", "", 1);
  a.store.kernels.Append({.name = a.Text("MatMul"),
                          .core = a.Text("AI_CORE"),
                          .begin_ns = 50 * kUs,
                          .dur_ns = 50 * kUs,
                          .correlation = 1});
  a.store.comm_times.Append({.step = a.Text("step7"), .op_name = a.Text("Total Op Info")});
  Options options;
  EXPECT_EQ(ColumnOf(Ask(ClusterTimeSummaryRecipe(), {&a}, options),
                     "memoryNotOverlapComputationCommunication"),
            (std::vector<double>{40}));
  options.compat = true;
  // 10 us before the second copy and 10 us of it behind the first, before the kernel.
  EXPECT_EQ(ColumnOf(Ask(ClusterTimeSummaryRecipe(), {&a}, options),
                     "memoryNotOverlapComputationCommunication"),
            (std::vector<double>{20}));
}

// A GPU that computes 0..10 and 50..60 us and copies for 30 us between, all asked for in the step.
TEST(ClusterTimeSummary, CopiesOfAGpuLeaveItsFreeTimeOnce) {
  TestRank a(0);
  a.store = {};
  a.store.info.format = store::Format::kJson;
  const store::TrackId host = a.ThreadOf("python", "thread 1");
  const store::TrackId stream = a.ThreadOf("python", "stream 7");
  a.Step(7, 0, 5 * kUs);
  const auto work = [&](const char* category, int64_t begin_us, int64_t end_us) {
    const int64_t connection = a.next_connection++;
    a.Slice(host, kUs, 2 * kUs, "cudaLaunchKernel", "cuda_runtime", connection);
    a.Slice(stream, begin_us * kUs, end_us * kUs, category, category, connection);
  };
  work("kernel", 0, 10);
  work("gpu_memcpy", 15, 45);
  work("kernel", 50, 60);
  a.Kernel("gemm", "", "", 0, 10 * kUs);
  a.Kernel("gemm", "", "", 50 * kUs, 60 * kUs);
  const Result<Answer> answer = Ask(ClusterTimeSummaryRecipe(), {&a});
  EXPECT_EQ(ColumnOf(answer, "computation"), (std::vector<double>{20}));
  EXPECT_EQ(ColumnOf(answer, "memory"), (std::vector<double>{30}));
  EXPECT_EQ(ColumnOf(answer, "memoryNotOverlapComputationCommunication"),
            (std::vector<double>{30}));
  EXPECT_EQ(ColumnOf(answer, "free"), (std::vector<double>{10}));
}

TEST(ClusterTimeSummary, CopiesAreUnknownWithoutATimeline) {
  TestRank a(0);
  a.store.step_traces.Append({.step = 7, .computing_us = 5, .free_us = 3});
  const Result<Answer> answer = Ask(ClusterTimeSummaryRecipe(), {&a});
  EXPECT_TRUE(std::isnan(ColumnOf(answer, "memory").at(0)));
  EXPECT_TRUE(std::isnan(ColumnOf(answer, "memoryNotOverlapComputationCommunication").at(0)));
  EXPECT_EQ(ColumnOf(answer, "free"), (std::vector<double>{3}));
}

}  // namespace
}  // namespace steplens::analysis::cluster
