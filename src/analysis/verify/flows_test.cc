#include "analysis/verify/test_store.h"

namespace steplens::analysis::verify {
namespace {

// An operator launches a kernel, through a launch of CANN with connection id 5.
struct Launch : TestStore {
  store::TrackId host = ThreadOf("Python", "Thread 1");
  store::TrackId cann = ThreadOf("CANN", "Thread 2");
  store::TrackId stream = ThreadOf("Ascend Hardware", "Stream 2");

  Launch() {
    Slice(host, 100, 180, "aten::addmm", "cpu_op");
    Slice(cann, 150, 170, "Node@launch", "", 5);
    Slice(stream, 300, 350, "MatMul", "", 5);
    Kernel("MatMul", "MatMul", "AI_CORE", 300, 350);
    Flow("async_npu", host, 100, stream, 300);
    Flow("HostToDevice", cann, 155, stream, 300);
  }
};

TEST(VerifyOpFlows, LeadFromOperatorStartsToTasks) { ExpectHolds(Launch().Run("10"), "1 flows"); }

TEST(VerifyOpFlows, ReportsAStartInsideAnOperator) {
  Launch s;
  s.store.flows.from_ns.Set(0, 101);
  ExpectBroken(s.Run("10"), "1 of 1 flows",
               "async_npu flow from 0.101 us to 0.300 us: no operator starts there");
}

TEST(VerifyOpFlows, ReportsAnEndBesideTheTask) {
  Launch s;
  s.store.flows.to_ns.Set(0, 301);
  ExpectBroken(s.Run("10"), "1 of 1 flows",
               "async_npu flow from 0.100 us to 0.301 us: no task starts at its end");
}

TEST(VerifyOpFlows, EndAtDifferentTimesInText) {
  Launch s;
  s.Flow("async_npu", s.host, 100, s.stream, 300);
  ExpectBroken(s.Run("10"), "2 of 2 flows",
               "async_npu flow from 0.100 us to 0.300 us: another one ends at the same time");
  s.store.info.format = store::Format::kDb;
  ExpectHolds(s.Run("10"), "2 flows");
}

TEST(VerifyLaunchFlows, EachKernelHasOne) {
  ExpectHolds(Launch().Run("11"), "2 flow ends and kernels; 1 flows");
}

TEST(VerifyLaunchFlows, ReportsAKernelWithTwo) {
  Launch s;
  s.Flow("HostToDevice", s.cann, 160, s.stream, 300);
  ExpectBroken(s.Run("11"), "1 of 3 flow ends and kernels; 2 flows",
               "kernel_details row 1 (MatMul): 2 HostToDevice flows end at it, expected 1");
}

TEST(VerifyLaunchFlows, ReportsAnEndWithoutATaskAndTheKernelThatLacksIt) {
  Launch s;
  s.store.flows.to_ns.Set(1, 310);
  const CheckResult result = s.Run("11");
  ExpectBroken(result, "2 of 2 flow ends and kernels; 1 flows",
               "HostToDevice flow from 0.155 us to 0.310 us: no task starts at its end");
  EXPECT_EQ(result.offending.back(),
            "kernel_details row 1 (MatMul): 0 HostToDevice flows end at it, expected 1");
}

TEST(VerifyLaunchFlows, FindsCollectivesThatStartOneNsApart) {
  Launch s;
  const store::TrackId group = s.ThreadOf("HCCL", "Group 0 Communication");
  s.Slice(group, 400, 410, "hcom_allReduce__1_0_1");
  s.Kernel("hcom_allReduce__1_0_1", "hcom_allReduce__1_0_1", "HCCL", 399, 409);
  s.Flow("HostToDevice", s.cann, 160, group, 400);
  ExpectHolds(s.Run("11"), "4 flow ends and kernels; 2 flows");
}

TEST(VerifyDbLaunches, AreKnownToCannAndToTheDevice) {
  Launch s;
  ExpectNotApplicable(s.Run("16"), "not a db");
  s.store.info.format = store::Format::kDb;
  ExpectHolds(s.Run("16"), "1 launches");
}

TEST(VerifyDbLaunches, ReportsATaskWithoutALaunch) {
  Launch s;
  s.store.info.format = store::Format::kDb;
  s.store.slices.correlation.Set(2, 6);
  ExpectBroken(
      s.Run("16"), "1 of 1 launches",
      "async_npu flow from 0.100 us to 0.300 us: connection id 6 has no launch in CANN_API");
}

TEST(VerifyDbLaunches, ReportsALaunchWithoutATask) {
  Launch s;
  s.store.info.format = store::Format::kDb;
  s.store.flows.to_ns.Set(0, 900);
  ExpectBroken(s.Run("16"), "1 of 1 launches",
               "async_npu flow from 0.100 us to 0.900 us: no such TASK");
}

TEST(VerifyDanglingFlows, NeedASliceAtBothEnds) {
  Launch s;
  ExpectHolds(s.Run("trace.dangling_flows"), "2 flows");
  s.store.flows.from_ns.Set(1, 999);
  ExpectBroken(s.Run("trace.dangling_flows"), "1 of 2 flows",
               "HostToDevice flow from 0.999 us to 0.300 us: no slice at its start");
}

TEST(VerifyDanglingFlows, MayStartWhereASliceEnds) {
  Launch s;
  const size_t slice = 0;
  s.store.flows.from_track.Set(1, s.store.slices.track[slice]);
  s.store.flows.from_ns.Set(1, s.store.slices.begin_ns[slice] + s.store.slices.dur_ns[slice]);
  ExpectHolds(s.Run("trace.dangling_flows"), "2 flows");
}

TEST(VerifyDanglingFlows, LaunchesHangWhereLevel0LeavesCannOut) {
  Launch s;
  s.store.slices.track.Set(1, s.host);
  s.store.flows.from_ns.Set(1, 999);
  ExpectHolds(s.Run("trace.dangling_flows"), "2 flows");
}

TEST(VerifyDanglingFlows, HaveBothEndsUnlessKinetoCutThem) {
  Launch s;
  s.store.issues.Add(store::IssueKind::kFlowWithoutStart, "x", 3);
  ExpectBroken(s.Run("trace.dangling_flows"), "1 of 3 flows",
               "3 more ends have no start, first: x");
  s.store.info.source = store::Source::kKineto;
  ExpectHolds(s.Run("trace.dangling_flows"), "2 flows; 3 more ends have no start");
}

}  // namespace
}  // namespace steplens::analysis::verify
