#include "analysis/verify/test_store.h"

namespace steplens::analysis::verify {
namespace {

// One step of 100 us: compute [0, 40) and [50, 60), a collective [30, 70), free [70, 100) at its
// end because another kernel starts there.
TestStore OneStep() {
  TestStore s;
  s.StepKernel("a", "AI_CORE", 1000000, 40000, 7);
  s.StepKernel("hcom_allReduce__1_0_1", "HCCL", 1030000, 40000, 7);
  s.StepKernel("b", "AI_VECTOR_CORE", 1050000, 10000, 7);
  s.StepKernel("c", "AI_CORE", 1100000, 5000, 7);
  s.store.step_traces.Append({.step = 7,
                              .computing_us = 55,
                              .comm_not_overlapped_us = 20,
                              .overlapped_us = 20,
                              .communication_us = 40,
                              .free_us = 30,
                              .stage_us = 105,
                              .bubble_us = 0,
                              .comm_exclude_receive_us = 20,
                              .preparing_us = 10});
  return s;
}

TestStore OneStepWithOverlapTrack() {
  TestStore s = OneStep();
  const store::TrackId track = s.ThreadOf("Overlap Analysis", "Computing");
  s.Step(7, 990000, 1200000);
  s.Slice(track, 1000000, 1040000, "Computing");
  s.Slice(track, 1050000, 1060000, "Computing");
  s.Slice(track, 1100000, 1105000, "Computing");
  s.Slice(track, 1030000, 1070000, "Communication");
  s.Slice(track, 1040000, 1050000, "Communication(Not Overlapped)");
  s.Slice(track, 1060000, 1070000, "Communication(Not Overlapped)");
  s.Slice(track, 1070000, 1100000, "Free");
  return s;
}

TEST(VerifyPartsFillStage, HoldsWithinHalfAMicrosecondInText) {
  TestStore s = OneStep();
  s.store.step_traces.stage_us.Set(0, 105.5);
  ExpectHolds(s.Run("1"), "1 steps");
}

TEST(VerifyPartsFillStage, IsExactInTheDb) {
  TestStore s = OneStep();
  s.store.info.format = store::Format::kDb;
  s.store.step_traces.stage_us.Set(0, 105.001);
  ExpectBroken(s.Run("1"), "1 of 1 steps, largest deviation 0.001 us",
               "StepTraceTime row 1 (step 7): sum of the parts is 105.000 us, expected 105.001 us");
}

TEST(VerifyPartsFillStage, CountsTheBubble) {
  TestStore s = OneStep();
  s.store.step_traces.stage_us.Set(0, 95);
  s.store.step_traces.bubble_us.Set(0, 10);
  ExpectHolds(s.Run("1"), "1 steps");
}

TEST(VerifyPartsFillStage, NeedsTheFile) {
  ExpectNotApplicable(TestStore().Run("1"), "no step_trace_time");
}

TEST(VerifyOverlapAddsUp, ToleratesOnlyArtefactsOfDoubles) {
  TestStore s = OneStep();
  s.store.step_traces.overlapped_us.Set(0, 20.0000005);
  ExpectHolds(s.Run("2"), "1 steps");
  s.store.step_traces.overlapped_us.Set(0, 20.001);
  ExpectBroken(s.Run("2"), "1 of 1 steps, largest deviation 0.001",
               "step_trace_time row 1 (step 7): sum of both, in us, is 40.001, expected 40");
}

TEST(VerifyComputingIsUnion, CountsOverlappingKernelsOnceAndToleratesOneNsPerKernel) {
  TestStore s = OneStep();
  s.StepKernel("on another stream", "AI_CORE", 1010000, 5000, 7);
  s.store.step_traces.computing_us.Set(0, 55.004);
  ExpectHolds(s.Run("3"), "1 steps");
  s.store.step_traces.computing_us.Set(0, 55.005);
  ExpectBroken(s.Run("3"), "1 of 1 steps, largest deviation 0.005 us",
               "step_trace_time row 1 (step 7): Computing is 55.005 us, expected 55.000 us");
}

TEST(VerifyComputingIsUnion, LeavesOutTheDeviceSideOfCollectives) {
  TestStore s = OneStep();
  s.StepKernel("hcom_allReduce_AicpuKernel", "AI_CPU", 1070000, 20000, 7);
  ExpectHolds(s.Run("3"), "1 steps");
}

TEST(VerifyComputingIsUnion, GivesARunOfBusyTimeToTheStepItStartsIn) {
  TestStore s;
  s.StepKernel("a", "AI_CORE", 1000, 1000, 1);
  s.StepKernel("b", "AI_CORE", 1500, 1000, 2);  // joins the run of step 1
  s.StepKernel("c", "AI_CORE", 4000, 1000, 2);
  s.store.step_traces.Append({.step = 1, .computing_us = 1.5});
  s.store.step_traces.Append({.step = 2, .computing_us = 1});
  ExpectHolds(s.Run("3"), "2 steps");
}

TEST(VerifyComputingIsUnion, DividesKernelsOfADbByStepRanges) {
  TestStore s;
  s.store.info.format = store::Format::kDb;
  s.Step(1, 0, 1200);
  s.Step(2, 1200, 9000);
  s.Kernel("a", "a", "AI_CORE", 1000, 2000);
  s.Kernel("b", "b", "AI_CORE", 1500, 2500);
  s.store.step_traces.Append({.step = 1, .computing_us = 1});
  s.store.step_traces.Append({.step = 2, .computing_us = 1});
  ExpectHolds(s.Run("3"), "2 steps");
}

TEST(VerifyComputingIsUnion, NeedsToKnowTheSteps) {
  TestStore s;
  s.Kernel("a", "a", "AI_CORE", 1000, 2000);
  s.store.step_traces.Append({.step = 1, .computing_us = 1});
  ExpectNotApplicable(s.Run("3"), "the steps are not marked on the timeline");
}

TEST(VerifyComputingIsUnion, TakesAllKernelsOfARunWithoutSteps) {
  TestStore s;
  s.Kernel("a", "a", "AI_CORE", 1000, 2000);
  s.store.step_traces.Append({.computing_us = 1});
  ExpectHolds(s.Run("3"), "1 steps");
}

TEST(VerifyCommunicationIsUnion, ReportsAStepWhoseCollectivesTakeLonger) {
  TestStore s = OneStep();
  ExpectHolds(s.Run("4"), "1 steps");
  s.store.step_traces.communication_us.Set(0, 40.011);
  ExpectBroken(s.Run("4"), "1 of 1 steps, largest deviation 0.011 us",
               "step_trace_time row 1 (step 7): Communication is 40.011 us, expected 40.000 us");
}

TestStore WithElapse(double elapse_ms) {
  TestStore s = OneStep();
  s.store.comm_times.Append({.step = s.Text("step7"),
                             .kind = s.Text("collective"),
                             .op_name = s.Text("Total Op Info"),
                             .elapse_ms = elapse_ms});
  return s;
}

TEST(VerifyCommunicationIsElapse, ComparesTheTotals) {
  ExpectHolds(WithElapse(0.04).Run("4.elapse"), "1 steps");
  ExpectBroken(
      WithElapse(0.05).Run("4.elapse"), "1 of 1 steps, largest deviation 10 us",
      "step_trace_time row 1 (step 7): sum of Elapse Time is 50.000 us, expected 40.000 us");
}

TEST(VerifyCommunicationIsElapse, DoesNotApplyToOverlappingCollectives) {
  TestStore s = WithElapse(0.05);
  s.StepKernel("hcom_allReduce__1_1_1", "HCCL", 1040000, 10000, 7);
  ExpectNotApplicable(s.Run("4.elapse"), "no steps to compare");
}

TEST(VerifyCommunicationIsElapse, DoesNotApplyToOneStepThatGetsOperationsOutsideOfIt) {
  TestStore s = WithElapse(0.05);
  s.Kernel("hcom_allReduce__1_1_1", "hcom_allReduce__1_1_1", "HCCL", 1200000, 1210000);
  ExpectNotApplicable(s.Run("4.elapse"), "no steps to compare");
}

TEST(VerifyCommunicationIsElapse, MayBeShorterWhereTheMasterPlaneIsMeasured) {
  TestStore s = WithElapse(0.03);
  s.store.kernels.core.Set(1, s.Text("COMMUNICATION"));
  EXPECT_NE(s.Run("4.elapse").state, CheckState::kBroken);
}

// Two steps, of which the files say no more than this. The operations of the first one, [10, 40)
// and [20, 60) us, overlap and cover 50 us.
struct WithoutTimeline : TestStore {
  WithoutTimeline() {
    AddOperation("step1", 1.7e15 + 10, 0.03);
    AddOperation("step1", 1.7e15 + 20, 0.04);
    AddOperation("step2", 1.7e15 + 90, 0.01);
    store.step_traces.Append({.step = 1, .communication_us = 50});
    store.step_traces.Append({.step = 2, .communication_us = 10});
  }
  void AddOperation(std::string_view step, double start_us, double elapse_ms) {
    store.comm_times.Append({.step = Text(step),
                             .kind = Text("collective"),
                             .op_name = Text("hcom_allReduce__1_0_1"),
                             .start_us = start_us,
                             .elapse_ms = elapse_ms});
  }
};

TEST(VerifyCommunicationIsElapse, CountsOverlapsOnceWhereThereIsNoTimeline) {
  WithoutTimeline s;
  ExpectHolds(s.Run("4.elapse"), "2 steps");
  s.store.step_traces.communication_us.Set(0, 40);
  ExpectBroken(s.Run("4.elapse"), "1 of 2 steps, largest deviation 10 us",
               "step_trace_time row 1 (step 1): time covered by the operations is 50.000 us, "
               "expected 40.000 us");
}

TEST(VerifyCommunicationIsElapse, LeavesOutWhatTheMasterPlaneOrASingleStepExplains) {
  WithoutTimeline shorter;
  shorter.store.step_traces.communication_us.Set(0, 60);
  ExpectHolds(shorter.Run("4.elapse"), "1 steps");
  WithoutTimeline single;
  for (size_t i = 0; i < 3; ++i) single.store.comm_times.step.Set(i, single.Text("step1"));
  ExpectNotApplicable(single.Run("4.elapse"), "no steps to compare");
}

TEST(VerifyOverlapTrack, SumsUpToTheColumns) {
  ExpectHolds(OneStepWithOverlapTrack().Run("5"), "4 columns; 7 slices");
}

TEST(VerifyOverlapTrack, ReportsTheColumnThatDiffers) {
  TestStore s = OneStepWithOverlapTrack();
  s.store.step_traces.free_us.Set(0, 29);
  ExpectBroken(s.Run("5"), "1 of 4 columns, largest deviation 1 us; 7 slices",
               "step_trace_time row 1 (step 7): Free is 29.000 us, expected 30.000 us");
}

TEST(VerifyOverlapTrack, NeedsToKnowTheSteps) {
  TestStore s = OneStepWithOverlapTrack();
  s.store.steps = {};
  ExpectNotApplicable(s.Run("5"), "the steps are not marked on the timeline");
}

TEST(VerifyOverlapTrack, NeedsTheTrack) {
  ExpectNotApplicable(OneStep().Run("5"), "no Overlap Analysis in the trace");
}

TEST(VerifyExcludeReceive, IsNotOverlappedLessBubble) {
  TestStore s = OneStep();
  ExpectHolds(s.Run("steps.exclude_receive"), "1 steps");
  s.store.step_traces.bubble_us.Set(0, 25);
  ExpectBroken(s.Run("steps.exclude_receive"), "1 of 1 steps, largest deviation 20 us",
               "step_trace_time row 1 (step 7): the column is 20.000 us, expected 0.000 us");
}

CheckResult RunBreakdown(TestStore s) {
  store::Job job;
  job.ranks.push_back(std::move(s.store));
  return VerifyJob(job, {}).front().back();
}

TEST(VerifyBreakdown, EqualsTheTimeline) {
  ExpectHolds(RunBreakdown(OneStepWithOverlapTrack()), "8 values");
}

TEST(VerifyBreakdown, ReportsTheColumnThatTheTimelineContradicts) {
  TestStore s = OneStepWithOverlapTrack();
  s.store.step_traces.preparing_us.Set(0, 12);
  ExpectBroken(RunBreakdown(std::move(s)), "1 of 8 values, largest deviation 2 us",
               "step_trace_time row 1: Preparing is 12.000 us, expected 10.000 us");
}

TEST(VerifyBreakdown, ReportsAStepThatTheTimelineDoesNotHave) {
  TestStore s = OneStepWithOverlapTrack();
  s.store.step_traces.step.Set(0, 8);
  ExpectBroken(RunBreakdown(std::move(s)), "2 of 2 values",
               "step_trace_time row 1: the timeline has no such step");
}

TEST(VerifyStepMarks, EveryStepIsKnown) {
  TestStore s = OneStep();
  s.store.steps = {};
  ExpectNotApplicable(s.Run("steps.marks"), "no marked steps");
  s.Slice(s.ThreadOf("Python", "Thread 9"), 0, 10, "ProfilerStep#7", "cpu_op");
  s.store.info.format = store::Format::kDb;
  ExpectBroken(s.Run("steps.marks"), "2 of 2 steps", "ProfilerStep#7: no such step in STEP_TIME");
  s.store.steps.Append({7, 0, 10});
  ExpectHolds(s.Run("steps.marks"), "2 steps");
  s.store.step_traces.step.Set(0, 8);
  ExpectBroken(s.Run("steps.marks"), "1 of 2 steps",
               "StepTraceTime row 1 (step 8): no such step in STEP_TIME");
}

TEST(VerifyStepValues, AreNeitherNegativeNorAbsurd) {
  TestStore s = OneStep();
  ExpectHolds(s.Run("steps.values"), "8 values");
  s.store.step_traces.free_us.Set(0, -30);
  ExpectBroken(s.Run("steps.values"), "1 of 8 values",
               "step_trace_time row 1 (step 7): Free is -30 us");
  s.store.step_traces.free_us.Set(0, 1e300);
  ExpectBroken(s.Run("steps.values"), "1 of 8 values",
               "step_trace_time row 1 (step 7): Free is 1e+300 us");
}

}  // namespace
}  // namespace steplens::analysis::verify
