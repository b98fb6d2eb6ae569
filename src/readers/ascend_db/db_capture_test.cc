#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "readers/ascend_db/test_db.h"

// The db captures of the shared data against the counts of the specification.

namespace steplens::readers {
namespace {

using namespace ascend_db_test;

std::string SharedData() {
  if (const char* path = std::getenv("STEPLENS_SHARED")) return std::string(path) + "/data";
  const auto repository = std::filesystem::path(__FILE__).parent_path() / "../../..";
  return (repository / "../shared/data").string();
}

struct Capture {
  int level;
  int rank;
};

class DbCapture : public testing::TestWithParam<Capture> {
 protected:
  void SetUp() override {
    const auto [level, rank] = GetParam();
    const std::string folder = SharedData() + "/ascend_pt/db/level" + std::to_string(level) +
                               "/rank" + std::to_string(rank) +
                               "_ascend_pt/ASCEND_PROFILER_OUTPUT/";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data at " << folder;
    store_.info.rank = store::kNone;
    const Status profiler = ReadProfilerDb(
        folder + "ascend_pytorch_profiler_" + std::to_string(rank) + ".db", {}, store_);
    ASSERT_TRUE(profiler.ok()) << profiler.error().message;
    const Status analysis = ReadAnalysisDb(folder + "analysis.db", {}, store_);
    ASSERT_TRUE(analysis.ok()) << analysis.error().message;
  }

  // Slices by "process|category"; on streams the category is the task type and left out.
  std::map<std::string, size_t> SliceCounts() const {
    std::map<std::string, size_t> counts;
    for (size_t i = 0; i < store_.slices.size(); ++i) {
      const auto track = static_cast<size_t>(store_.slices.track[i]);
      const auto process = static_cast<size_t>(store_.tracks.parent[track]);
      const std::string name(store_.Text(store_.tracks.name[process]));
      const std::string category(store_.Text(store_.slices.category[i]));
      ++counts[name + "|" + (name == "Ascend Hardware" ? "" : category)];
    }
    return counts;
  }

  store::TraceStore store_;
};

TEST_P(DbCapture, HasTheCountsOfTheSpecification) {
  const bool has_details = GetParam().level > 0;
  EXPECT_TRUE(store_.issues.empty());
  EXPECT_EQ(store_.info.rank, GetParam().rank);
  auto slices = SliceCounts();
  EXPECT_EQ(slices["Python|cpu_op"], 860u);
  EXPECT_EQ(slices["Python|enqueue"], 159u);
  EXPECT_EQ(slices["Python|dequeue"], 159u);
  EXPECT_EQ(slices["Python|python_function"], 1282u);
  EXPECT_EQ(slices["Ascend Hardware|"], has_details ? 535u : 533u) << "as in the text trace";
  EXPECT_EQ(slices["HCCL|"], has_details ? 300u : 4u);
  EXPECT_EQ(store_.host_ops.size(), 860u);
  EXPECT_EQ(store_.kernels.size(), 191u);
  EXPECT_EQ(store_.comm_ops.size(), 4u);
  EXPECT_EQ(store_.comm_tasks.size(), 296u);
  EXPECT_EQ(store_.allocations.size(), 184u);
  EXPECT_EQ(store_.module_memory.size() % 77, 0u);
  ASSERT_EQ(store_.steps.size(), 1u);
  EXPECT_EQ(store_.steps.step[0], 50);
  EXPECT_EQ(store_.kernel_metrics.size(), has_details ? 28u : 0u);
  EXPECT_EQ(store_.comm_times.size(), has_details ? 4u : 0u);
}

TEST_P(DbCapture, HasTheFlowsOfTheSpecification) {
  std::map<std::string, size_t> flows;
  for (size_t i = 0; i < store_.flows.size(); ++i)
    ++flows[std::string(store_.Text(store_.flows.kind[i]))];
  EXPECT_EQ(flows["async_task_queue"], 159u);
  EXPECT_EQ(flows["fwdbwd"], 27u);
  EXPECT_EQ(flows["async_npu"], 191u);
  EXPECT_EQ(flows["HostToDevice"], 241u) << "the 215 of the text, and 26 event records and waits";
}

TEST_P(DbCapture, HasTheMemorySamplesOfTheSpecification) {
  std::map<std::string, size_t> samples;
  for (size_t i = 0; i < store_.memory_samples.size(); ++i) {
    ++samples[std::string(store_.Text(store_.memory_samples.component[i]))];
  }
  EXPECT_EQ(samples["PTA"], 381u);
  EXPECT_EQ(samples["GE"], 114u);
  EXPECT_EQ(samples["PTA+GE"], 495u);
  EXPECT_TRUE(samples["APP"] == 13 || samples["APP"] == 14);
}

// analysis.db is computed from the same tables: the span of all kernels is Stage, to the
// nanosecond.
TEST_P(DbCapture, KernelsSpanTheStageOfAnalysisDb) {
  ASSERT_EQ(store_.step_traces.size(), 1u);
  int64_t begin_ns = store_.kernels.begin_ns[0];
  int64_t end_ns = 0;
  for (size_t i = 0; i < store_.kernels.size(); ++i) {
    end_ns =
        std::max(end_ns, store_.kernels.begin_ns[i].value() + store_.kernels.dur_ns[i].value());
  }
  EXPECT_NEAR(store_.step_traces.stage_us[0], static_cast<double>(end_ns - begin_ns) / 1000,
              0.0005);
}

INSTANTIATE_TEST_SUITE_P(AllCaptures, DbCapture,
                         testing::Values(Capture{0, 0}, Capture{0, 1}, Capture{1, 0},
                                         Capture{1, 1}),
                         [](const auto& capture) {
                           return "Level" + std::to_string(capture.param.level) + "Rank" +
                                  std::to_string(capture.param.rank);
                         });

TEST(DbCaptureValues, FirstKernelOfLevel1) {
  const std::string path =
      SharedData() +
      "/ascend_pt/db/level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared data at " << path;
  store::TraceStore store;
  ASSERT_TRUE(ReadProfilerDb(path, {}, store).ok());
  const auto kernel = store.kernels.Get(0);
  EXPECT_EQ(store.Text(kernel.name), "trans_TransData_0");
  EXPECT_EQ(store.Text(kernel.type), "TransData");
  EXPECT_EQ(store.Text(kernel.core), "AI_VECTOR_CORE");
  EXPECT_EQ(kernel.begin_ns, 1736410576404465403);
  EXPECT_EQ(kernel.dur_ns, 53761);
  EXPECT_EQ(kernel.block_dim, 32);
  EXPECT_EQ(kernel.stream, 2);
  EXPECT_EQ(store.Text(kernel.input_shapes), "32,3,224,224");
  EXPECT_EQ(store.Text(kernel.output_formats), "NC1HWC0");
  EXPECT_EQ(store.kernels.wait_ns[1], 100602);
  EXPECT_EQ(store.kernel_metrics[0].name, "aicore_time(us)");
  EXPECT_NEAR(store.kernel_metrics[0].numbers[2], 311.573, 0.001);
}

}  // namespace
}  // namespace steplens::readers
