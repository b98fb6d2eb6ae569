#include "analysis/cpu_device/mindspore_lanes.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

// A thread of MindSpore and of CANN that are one thread of the system, and a stream.
class Launch : public ::testing::Test {
 protected:
  store::TrackId Thread(std::string_view process, std::string_view tid) {
    b.store.tracks.Append({.parent = b.Process(process),
                           .kind = b.Text("thread"),
                           .tid = b.Text(tid),
                           .name = b.Text(tid)});
    return static_cast<store::TrackId>(b.store.tracks.size() - 1);
  }
  // "from_ns>to_ns" of each arrow of a kind.
  std::string Links(std::string_view kind = "async_npu") {
    std::string out;
    for (size_t i = 0; i < b.store.flows.size(); ++i) {
      if (b.store.Text(b.store.flows.kind[i]) != kind) continue;
      out += std::to_string(b.store.flows.from_ns[i]) + ">" +
             std::to_string(b.store.flows.to_ns[i]) + " ";
    }
    return out;
  }
  StoreBuilder b;
  store::TrackId host = Thread("MindSpore", "7");
  store::TrackId cann = Thread("CANN", "7");
  store::TrackId other = Thread("CANN", "8");
  store::TrackId stream = Thread("Ascend Hardware", "1");
};

TEST_F(Launch, LeadsFromTheRangeAroundItOnItsThread) {
  b.Slice(host, 100, 200, "PynativeFramework::PyNativeLaunchTask::Default/net/Add-op1");
  b.Slice(host, 200, 300, "PynativeFramework::PyNativeInfer::Default/net/Mul-op2");
  b.Slice(stream, 1000, 1100, "Add");
  b.Slice(stream, 1200, 1300, "Mul");
  b.Flow("HostToDevice", cann, 150, stream, 1000);
  b.Flow("HostToDevice", cann, 250, stream, 1200);  // of a range that launches nothing
  b.Flow("HostToDevice", other, 150, stream, 1200);
  AddMindSporeLanes(b.store);
  EXPECT_EQ(Links(), "100>1000 ");
}

TEST_F(Launch, LeadsFromTheRangeThatMakesAMarkToTheMark) {
  const store::TrackId application = Thread("python3", "7");
  const store::TrackId another = Thread("python3", "8");
  b.Slice(host, 100, 200, "Ascend::Mstx::Mark");
  b.Slice(host, 300, 400, "Ascend::Mstx::Range");
  b.Slice(host, 500, 600, "PynativeFramework::PyNativeInfer::Add");
  b.Slice(application, 150, 150, "mark");
  b.Slice(application, 350, 900, "range");
  b.Slice(application, 550, 560, "of nobody");
  b.Slice(another, 150, 160, "of another thread");
  AddMindSporeLanes(b.store);
  EXPECT_EQ(Links("mindspore_to_mstx"), "100>150 300>350 ");
  AddMindSporeLanes(b.store);
  EXPECT_EQ(Links("mindspore_to_mstx"), "100>150 300>350 ");
}

TEST_F(Launch, GivesItsScopeToWorkThatHasNone) {
  b.Slice(host, 100, 200, "PynativeFramework::PyNativeLaunchTask::Default/net/Add-op1");
  b.Slice(stream, 1000, 1100, "Add");
  b.Flow("HostToDevice", cann, 150, stream, 1000);
  AddMindSporeLanes(b.store);
  ASSERT_EQ(b.store.slices.size(), 4u);
  EXPECT_EQ(b.store.Text(b.store.slices.name[2]), "Default");
  EXPECT_EQ(b.store.Text(b.store.slices.name[3]), "net");
  EXPECT_EQ(b.store.slices.begin_ns[3], 1000);
  EXPECT_EQ(b.store.slices.dur_ns[3], 100);
}

TEST_F(Launch, GivesItsNameAndItsStepToTheKernel) {
  b.Slice(host, 100, 200, "Kernel::KernelLaunch::Default/net/Add-op1");
  b.Slice(stream, 1000, 1100, "Add");
  b.Slice(stream, 1200, 1300, "Add");
  b.Flow("HostToDevice", cann, 150, stream, 1000);
  b.store.kernels.Append({.name = b.Text("Add"), .begin_ns = 1000, .dur_ns = 100});
  b.store.kernels.Append({.name = b.Text("Add"), .begin_ns = 1200, .dur_ns = 100});
  b.store.steps.Append({4, 0, 500});
  b.store.steps.Append({5, 1000, 2000});
  AddMindSporeLanes(b.store);
  const std::vector<StringId> launchers = MindSporeLaunchers(b.store);
  ASSERT_EQ(launchers.size(), 2u);
  EXPECT_EQ(b.store.Text(launchers[0]), "Kernel::KernelLaunch::Default/net/Add-op1");
  EXPECT_EQ(launchers[1], StringId::kEmpty);
  FillMindSporeSteps(b.store);
  EXPECT_EQ(b.store.kernels.step[0], 4);
  EXPECT_EQ(b.store.kernels.step[1], 5);
}

TEST_F(Launch, IsNotLinkedTwice) {
  b.Slice(host, 100, 200, "Kernel::KernelLaunch::Add");
  b.Slice(stream, 1000, 1100, "Add");
  b.Flow("HostToDevice", cann, 150, stream, 1000);
  AddMindSporeLanes(b.store);
  AddMindSporeLanes(b.store);
  EXPECT_EQ(Links(), "100>1000 ");
}

}  // namespace
}  // namespace steplens::analysis
