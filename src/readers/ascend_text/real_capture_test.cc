#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "readers/ascend_text/ascend_text.h"

// Real captures: counts of the specification of the deliverables and values looked up in the files
// by hand.

namespace steplens::readers {
namespace {

namespace fs = std::filesystem;
using store::TraceStore;

fs::path SharedData() {
  if (const char* shared = std::getenv("STEPLENS_SHARED")) return fs::path(shared) / "data";
  return fs::path(__FILE__).parent_path() / "../../../../shared/data";
}

// Reads every result file of `folder`, in the order of their names.
TraceStore ReadFolder(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  ThreadPool pool(1);
  ReadOptions options;
  options.pool = &pool;
  TraceStore store;
  for (const fs::path& path : paths) {
    const TextFileKind kind = ClassifyTextFile(path.filename().string());
    if (kind == TextFileKind::kUnknown) continue;
    const Status status = ReadTextFile(kind, path.string(), options, store);
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
  return store;
}

#define SL_SKIP_WITHOUT(folder) \
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not here; set STEPLENS_SHARED"

TEST(RealCapture, HasTheRowsOfEveryFile) {
  for (const std::string level : {"level0", "level1"}) {
    for (const std::string rank : {"rank0_ascend_pt", "rank1_ascend_pt"}) {
      const fs::path folder =
          SharedData() / "ascend_pt/text" / level / rank / "ASCEND_PROFILER_OUTPUT";
      SL_SKIP_WITHOUT(folder);
      const TraceStore store = ReadFolder(folder);
      const bool is_level1 = level == "level1";
      EXPECT_TRUE(store.issues.empty()) << folder;
      EXPECT_EQ(store.kernels.size(), 191);
      EXPECT_EQ(store.kernel_metrics.size(), is_level1 ? 25 : 0);
      EXPECT_EQ(store.operator_details.size(), 859);
      EXPECT_EQ(store.allocations.size(), 184);
      EXPECT_EQ(store.memory_samples.size(), is_level1 ? 1004 : 1003);
      EXPECT_EQ(store.module_memory.size(), is_level1 ? 1078 : 1001);
      EXPECT_EQ(store.step_traces.size(), 1);
      EXPECT_EQ(store.op_statistics.size(), is_level1 ? 33 : 0);
      EXPECT_EQ(store.api_statistics.size(), is_level1 ? 57 : 0);
      EXPECT_EQ(store.comm_times.size(), is_level1 ? 5 : 0);
      EXPECT_EQ(store.comm_links.size(), is_level1 ? 48 : 0);
      ASSERT_EQ(store.sheets.size(), 1);
      EXPECT_EQ(store.sheets[0].name, "l2_cache");
      EXPECT_EQ(store.sheets[0].size(), 179);
    }
  }
}

class RealRank0 : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder = SharedData() / "ascend_pt/text/level1/rank0_ascend_pt";
    SL_SKIP_WITHOUT(folder);
    store_ = ReadFolder(folder / "ASCEND_PROFILER_OUTPUT");
    info_path_ = (folder / "profiler_info_0.json").string();
  }
  std::string_view Text(StringId id) const { return store_.Text(id); }

  TraceStore store_;
  std::string info_path_;
};

TEST_F(RealRank0, HasTheThirdKernelAsWritten) {
  const auto row = store_.kernels.Get(2);
  EXPECT_EQ(Text(row.name), "Conv2D1");
  EXPECT_EQ(Text(row.type), "Conv2D");
  EXPECT_EQ(Text(row.core), "AI_CORE");
  EXPECT_EQ(Text(row.state), "dynamic");
  EXPECT_EQ(Text(row.hf32), "YES");
  EXPECT_EQ(row.step, 50);
  EXPECT_EQ(row.task_id, 11053);
  EXPECT_EQ(row.stream, 2);
  EXPECT_EQ(row.begin_ns, 1736408883704903918);
  EXPECT_EQ(row.dur_ns, 313886);
  EXPECT_EQ(row.wait_ns, 96222);
  EXPECT_EQ(row.block_dim, 16);
  EXPECT_EQ(row.mix_block_dim, 0);
  EXPECT_EQ(row.context_id, store::kNone);
  EXPECT_EQ(Text(row.input_shapes), "32,1,224,224,8;121,4,16,8;64");
  EXPECT_EQ(Text(row.input_types), "FLOAT;FLOAT;FLOAT");
  EXPECT_EQ(Text(row.output_formats), "NC1HWC0");
  EXPECT_EQ(store_.kernel_metrics[1].name, "aic_total_cycles");
  EXPECT_EQ(store_.kernel_metrics[1].numbers[2], 8990318);
  EXPECT_EQ(store_.kernel_metrics.back().numbers[2], 66.301);
}

TEST_F(RealRank0, SumsUpLikeTheStatistics) {
  int64_t compute_ns = 0;
  size_t collectives = 0;
  for (size_t i = 0; i < store_.kernels.size(); ++i) {
    const bool is_collective = Text(store_.kernels.core[i]) == "HCCL";
    collectives += is_collective ? 1 : 0;
    compute_ns += is_collective ? 0 : store_.kernels.dur_ns[i].value();
  }
  double total_us = 0;
  for (const double us : store_.op_statistics.total_us) total_us += us;
  EXPECT_EQ(collectives, 4);
  EXPECT_NEAR(static_cast<double>(compute_ns) / 1000, total_us, 0.001 * 187);
}

TEST_F(RealRank0, JoinsTheLinesOfOperators) {
  const auto& operators = store_.operator_details;
  EXPECT_EQ(Text(operators.name[1]), "aten::empty");
  EXPECT_EQ(Text(operators.input_shapes[1]), ";;;;;");
  EXPECT_EQ(operators.host_self_ns[0], 1960100);
  const std::string_view stack = Text(operators.call_stack[1]);
  EXPECT_EQ(stack.find('\n'), std::string_view::npos);
  EXPECT_EQ(std::count(stack.begin(), stack.end(), ';'), 14);
  EXPECT_TRUE(stack.ends_with(";<string>(1): <module>"));
}

TEST_F(RealRank0, HasMemoryInBytes) {
  const auto first = store_.allocations.Get(0);
  EXPECT_EQ(first.size_bytes, 19268096);                     // 18816.5 KB
  EXPECT_EQ(first.alloc_total_allocated_bytes, 1000729600);  // 954.3701171875 MB
  EXPECT_EQ(first.release_ns, store::kNone);
  const auto last = store_.allocations.Get(183);
  EXPECT_EQ(Text(last.name), "cann::ReduceSum7_in_1");
  EXPECT_EQ(last.release_ns - last.alloc_ns, last.dur_ns);
  std::map<std::string_view, size_t> components;
  for (const StringId id : store_.memory_samples.component) ++components[Text(id)];
  EXPECT_THAT(components,
              testing::ElementsAre(testing::Pair("APP", 14), testing::Pair("GE", 114),
                                   testing::Pair("PTA", 381), testing::Pair("PTA+GE", 495)));
}

TEST_F(RealRank0, HasTheStepAndItsCommunication) {
  EXPECT_EQ(store_.step_traces.step[0], 50);
  EXPECT_EQ(store_.step_traces.computing_us[0], 8873.756000000001);
  EXPECT_EQ(store_.step_traces.preparing_us[0], 17902.5);
  EXPECT_EQ(Text(store_.comm_times.op_name[4]), "Total Op Info");
  EXPECT_EQ(store_.comm_times.elapse_ms[4], 105.99187771875);
  EXPECT_EQ(store_.comm_bandwidths.size(), 25);
  EXPECT_EQ(Text(store_.comm_bandwidths.transport[21]), "HCCS");
  EXPECT_EQ(store_.comm_bandwidths.transit_size_mb[21], 427.59609599999993);
  EXPECT_EQ(store_.comm_packets.size(), 16);
  EXPECT_EQ(store_.comm_packets.bandwidth_row[15], 21);
}

TEST_F(RealRank0, SaysWhoItIs) {
  const auto info = ReadProfilerInfo(info_path_);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->rank_id, 0);
  EXPECT_EQ(info->level, "Level1");
  EXPECT_EQ(info->export_type, "text");
}

TEST(RealCapture, ReadsTheExportersOwnFiles) {
  const fs::path folder =
      SharedData() /
      "ascend_small/ascend_npu_operator_profiler/msprof_real_output/mindstudio_profiler_output";
  SL_SKIP_WITHOUT(folder);
  const TraceStore store = ReadFolder(folder);
  EXPECT_TRUE(store.issues.empty());
  EXPECT_EQ(store.kernels.size(), 9);
  EXPECT_EQ(store.kernels.device[0], 0);
  EXPECT_EQ(store.op_statistics.size(), 3);
  EXPECT_EQ(store.api_statistics.size(), 22);
  EXPECT_EQ(store.Text(store.api_statistics.device[0]), "host");
  ASSERT_EQ(store.sheets.size(), 1);
  EXPECT_EQ(store.sheets[0].name, "task_time");
  EXPECT_EQ(store.sheets[0].size(), 14);
  EXPECT_EQ(store.sheets[0].columns[5].numbers[1], 74.902);
}

TEST(RealCapture, ReadsKernelsOfEveryGeneration) {
  const fs::path samples = SharedData() / "advisor_samples/ut/advisor";
  SL_SKIP_WITHOUT(samples);
  const TraceStore old = ReadFolder(samples / "advisor_backend/compute_advice");
  EXPECT_TRUE(old.issues.empty());
  EXPECT_EQ(old.kernels.size(), 591);
  EXPECT_EQ(old.kernels.begin_ns[0], 1699529622790614800);
  EXPECT_EQ(old.Text(old.kernels.input_shapes[0]), "544404480");
  const TraceStore recent = ReadFolder(samples / "compute_advice/data");
  EXPECT_EQ(recent.kernels.size(), 29);
}

}  // namespace
}  // namespace steplens::readers
