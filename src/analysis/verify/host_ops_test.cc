#include "analysis/verify/test_store.h"

namespace steplens::analysis::verify {
namespace {

// aten::linear [100, 200) around aten::addmm [110, 190), which launches a kernel of 50 ns.
TestStore Linear() {
  TestStore s;
  const store::TrackId host = s.ThreadOf("Python", "Thread 1");
  const store::TrackId stream = s.ThreadOf("Ascend Hardware", "Stream 2");
  s.Slice(host, 110, 190, "aten::addmm", "cpu_op");
  s.Slice(host, 100, 200, "aten::linear", "cpu_op");
  s.Slice(host, 0, 1000, "ProfilerStep#1", "cpu_op");
  s.Slice(stream, 300, 350, "MatMul");
  s.Flow("async_npu", host, 110, stream, 300);
  s.store.operator_details.Append({.name = s.Text("aten::linear"),
                                   .host_total_ns = 100,
                                   .device_self_ns = 0,
                                   .device_self_aicore_ns = 0});
  s.store.operator_details.Append({.name = s.Text("aten::addmm"),
                                   .host_total_ns = 80,
                                   .device_self_ns = 50,
                                   .device_self_aicore_ns = 50});
  return s;
}

TEST(VerifyHostOps, AreTheOperatorsOfTheTraceWithoutSteps) {
  ExpectHolds(Linear().Run("8"), "2 operators");
}

TEST(VerifyHostOps, ReportsBothSidesOfADifferentDuration) {
  TestStore s = Linear();
  s.store.operator_details.host_total_ns.Set(1, 81);
  const CheckResult result = s.Run("8");
  ExpectBroken(result, "2 of 3 operators",
               "operator_details row 2 (aten::addmm, 0.081 us): no such operator in the trace");
  EXPECT_EQ(result.offending.back(),
            "trace: aten::addmm at 0.110 us, 0.080 us: no such row in operator_details");
}

TEST(VerifyHostOps, NeedTimes) {
  TestStore s = Linear();
  for (size_t i = 0; i < 2; ++i) s.store.operator_details.host_total_ns.Set(i, store::kNone);
  for (const char* rule : {"8", "8.order", "9", "9.aicore"}) {
    ExpectNotApplicable(s.Run(rule), "operator_details has no times");
  }
}

TEST(VerifyHostOps, AreNotInADb) {
  ExpectNotApplicable(TestStore().Run("8"), "no operator_details");
}

TEST(VerifyHostOpOrder, IsByStartInTheFileAndByEndInTheTrace) {
  ExpectHolds(Linear().Run("8.order"), "5 operators in both orders");
}

TEST(VerifyHostOpOrder, LeavesOperatorsThatStartTogetherInAnyOrder) {
  TestStore s = Linear();
  s.store.slices.begin_ns.Set(0, 100);
  ExpectHolds(s.Run("8.order"), "5 operators in both orders");
}

TEST(VerifyHostOpOrder, ReportsRowsOutOfStartOrder) {
  TestStore s = Linear();
  s.store.slices.begin_ns.Set(0, 90);
  ExpectBroken(
      s.Run("8.order"), "2 of 5 operators in both orders",
      "operator_details row 1 is aten::linear, expected aten::addmm, which starts at 0.090 us");
}

TEST(VerifyHostOpOrder, ReportsATraceOutOfEndOrder) {
  TestStore s = Linear();
  s.store.slices.dur_ns.Set(2, 150);
  ExpectBroken(s.Run("8.order"), "1 of 5 operators in both orders",
               "trace: ProfilerStep#1 ends at 0.150 us, before the operator written ahead of it "
               "(0.200 us)");
}

TEST(VerifyHostOpOrder, DoesNotApplyWhenOperatorsAreMissing) {
  TestStore s = Linear();
  s.store.operator_details.Append({.name = s.Text("aten::mul"), .host_total_ns = 1});
  ExpectNotApplicable(s.Run("8.order"),
                      "operator_details and trace differ in the number of operators");
}

TEST(VerifyDeviceSelf, IsTheWorkThatOperatorsLaunched) {
  ExpectHolds(Linear().Run("9"), "1 sum; 1 launched tasks");
}

// An event that the training loop recorded itself: steps have no row in operator_details.
TEST(VerifyDeviceSelf, LeavesOutWhatAStepLaunchedItself) {
  TestStore s = Linear();
  const store::TrackId host = s.store.flows.from_track[0];
  const store::TrackId stream = s.store.flows.to_track[0];
  s.Slice(stream, 400, 407, "EVENT_RECORD");
  s.Flow("async_npu", host, 0, stream, 400);
  ExpectHolds(s.Run("9"), "1 sum; 1 launched tasks");
}

TEST(VerifyDeviceSelf, ReportsASumBeyondOneNsPerTask) {
  TestStore s = Linear();
  s.store.operator_details.device_self_ns.Set(1, 52);
  ExpectBroken(s.Run("9"), "1 of 1 sum, largest deviation 0.002 us; 1 launched tasks",
               "operator_details: sum of Device Self Duration is 0.052 us, expected 0.050 us");
}

TEST(VerifyDeviceSelfAiCore, CountsTasksByTheirArgs) {
  VerifyOptions options;
  options.args_of = [](const store::TraceStore&, store::SliceId) {
    return std::string(R"({"Task Type": "AI_CORE"})");
  };
  ExpectHolds(Linear().Run("9.aicore", options), "1 sum; 1 launched AI_CORE tasks");
}

TEST(VerifyDeviceSelfAiCore, ReportsTimeOfTasksOfAnotherType) {
  VerifyOptions options;
  options.args_of = [](const store::TraceStore&, store::SliceId) {
    return std::string(R"({"Task Type": "DSA_SQE"})");
  };
  ExpectBroken(
      Linear().Run("9.aicore", options),
      "1 of 1 sum, largest deviation 0.05 us; 0 launched AI_CORE tasks",
      "operator_details: sum of Device Self Duration With AICore is 0.050 us, expected 0.000 us");
}

TEST(VerifyDeviceSelfAiCore, NeedsArgs) {
  ExpectNotApplicable(Linear().Run("9.aicore"), "the args of slices are not at hand");
}

}  // namespace
}  // namespace steplens::analysis::verify
