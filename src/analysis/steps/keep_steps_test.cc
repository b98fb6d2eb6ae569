#include "analysis/steps/keep_steps.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::TrackId;

// Two steps of the host at 0..100 and 100..200; the device runs the first step's work until 130.
class TwoSteps : public ::testing::Test {
 protected:
  TwoSteps() {
    b.Step(7, 0, 100);
    b.Step(8, 100, 200);
    b.Slice(host, 0, 100, "ProfilerStep#7", "cpu_op");
    b.Shapes(b.Slice(host, 10, 20, "first", "cpu_op"), "1");
    b.Slice(host, 100, 200, "ProfilerStep#8", "cpu_op");
    b.Shapes(b.Slice(host, 110, 120, "second", "cpu_op"), "2");
    b.Slice(stream, 110, 130, "late");  // launched in step 7, when step 8 had begun
    b.Slice(stream, 140, 150, "own");
    b.Flow("async_npu", host, 10, stream, 110);
    b.Flow("async_npu", host, 110, stream, 140);
    b.Kernel("late", "Add", "AI_CORE", 110, 130);
    b.Kernel("own", "Mul", "AI_CORE", 140, 150);
    b.CommOp("hcom_allReduce__1_0_1", 112, 120);
    b.store.allocations.Append({.size_bytes = 1, .alloc_ns = 15});
    b.store.allocations.Append({.size_bytes = 2, .alloc_ns = 150});
    b.store.memory_samples.Append({.ts_ns = 15});
    b.store.memory_samples.Append({.ts_ns = 199});
    b.store.op_statistics.Append({.count = 5});
  }

  std::string Names() const {
    std::string out;
    for (const StringId name : b.store.slices.name) out += std::string(b.store.Text(name)) + " ";
    return out;
  }

  StoreBuilder b;
  TrackId host = b.ThreadOf("Python", "Thread 1");
  TrackId stream = b.ThreadOf("Ascend Hardware", "Stream 2");
};

TEST_F(TwoSteps, DeviceWorkFollowsTheStepThatLaunchedIt) {
  const int64_t wanted[] = {7};
  EXPECT_EQ(KeepSteps(b.store, wanted), std::vector<int64_t>{7});
  EXPECT_EQ(Names(), "ProfilerStep#7 first late ");
  ASSERT_EQ(b.store.kernels.size(), 1u);
  EXPECT_EQ(b.store.Text(b.store.kernels.name[0]), "late");
  EXPECT_EQ(b.store.comm_ops.size(), 1u);
  ASSERT_EQ(b.store.flows.size(), 1u);
  EXPECT_EQ(b.store.flows.to_ns[0], 110);
}

TEST_F(TwoSteps, RowsAboutASliceFollowItToItsNewPlace) {
  const int64_t wanted[] = {8};
  KeepSteps(b.store, wanted);
  EXPECT_EQ(Names(), "ProfilerStep#8 second own ");
  ASSERT_EQ(b.store.host_ops.size(), 1u);
  EXPECT_EQ(b.store.host_ops.slice[0], store::SliceId{1});
  EXPECT_EQ(b.store.Text(b.store.host_ops.input_shapes[0]), "2");
}

TEST_F(TwoSteps, SamplesAndResultsOfTheWholeRunGo) {
  const int64_t wanted[] = {8, 9};
  EXPECT_EQ(KeepSteps(b.store, wanted), std::vector<int64_t>{8});
  ASSERT_EQ(b.store.allocations.size(), 1u);
  EXPECT_EQ(b.store.allocations.size_bytes[0], 2);
  ASSERT_EQ(b.store.memory_samples.size(), 1u);
  EXPECT_EQ(b.store.memory_samples.ts_ns[0], 199);
  EXPECT_EQ(b.store.op_statistics.size(), 0u);
  ASSERT_EQ(b.store.steps.size(), 1u);
  EXPECT_EQ(b.store.steps.step[0], 8);
}

TEST_F(TwoSteps, ColumnsThatAreViewsOfEachOtherAreKeptAlike) {
  b.store.kernels.block_dim = {};
  b.store.kernels.block_dim.Attach(b.store.kernels.begin_ns.span());
  const int64_t wanted[] = {8};
  KeepSteps(b.store, wanted);
  ASSERT_EQ(b.store.kernels.block_dim.size(), 1u);
  EXPECT_EQ(b.store.kernels.block_dim[0], 140);
}

TEST_F(TwoSteps, AKernelWaitsSinceTheRowThatIsAboveItNow) {
  b.Step(9, 200, 300);
  b.Slice(stream, 210, 220, "third");
  b.Flow("async_npu", host, 205, stream, 210);
  b.Kernel("third", "Mul", "AI_CORE", 210, 220);
  for (size_t i = 0; i < 3; ++i) b.store.kernels.wait_ns.Set(i, 5);
  const int64_t wanted[] = {7, 9};
  KeepSteps(b.store, wanted);
  ASSERT_EQ(b.store.kernels.size(), 2u);
  EXPECT_EQ(b.store.kernels.wait_ns[0], 5);
  EXPECT_EQ(b.store.kernels.wait_ns[1], 210 - 130);
}

TEST_F(TwoSteps, SheetsKeepTheRowsOfTheStepsByTheirTime) {
  store::DynamicTable timed{"nic", {{"Timestamp(us)", {}, {}}, {"Rx", {}, {}}}};
  for (const double us : {0.05, 0.15}) timed.columns[0].numbers.Append(us);
  for (const double rx : {1.0, 2.0}) timed.columns[1].numbers.Append(rx);
  store::DynamicTable timeless{"hccs", {{"Mode", {}, {}}}};
  timeless.columns[0].numbers.Append(1);
  b.store.sheets = {timed, timeless};
  const int64_t wanted[] = {8};
  KeepSteps(b.store, wanted);
  ASSERT_EQ(b.store.sheets.size(), 1u);
  ASSERT_EQ(b.store.sheets[0].size(), 1u);
  EXPECT_EQ(b.store.sheets[0].columns[1].numbers[0], 2.0);
}

TEST_F(TwoSteps, AStoreWithNoneOfTheStepsIsLeftAsItIs) {
  const int64_t wanted[] = {9};
  EXPECT_TRUE(KeepSteps(b.store, wanted).empty());
  EXPECT_EQ(b.store.slices.size(), 6u);
  EXPECT_EQ(b.store.op_statistics.size(), 1u);
}

}  // namespace
}  // namespace steplens::analysis
