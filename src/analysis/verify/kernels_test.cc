#include "analysis/verify/test_store.h"

namespace steplens::analysis::verify {
namespace {

// Two kernels and a collective, on the timeline and in kernel_details.
struct Kernels : TestStore {
  store::TrackId stream = ThreadOf("Ascend Hardware", "Stream 2");

  Kernels() {
    Add("MatMul", "AI_CORE", 1003, 100, 0, 11);
    Add("Add", "AI_CORE", 1153, 50, 50, 12);
    Slice(stream, 1003, 1103, "MatMul");
    Slice(stream, 1153, 1203, "Add");
    Slice(ThreadOf("HCCL", "Group 0 Communication"), 1201, 1301, "hcom_allReduce__1_0_1");
    Add("hcom_allReduce__1_0_1", "HCCL", 1200, 100, 0, store::kNone);
  }

  void Add(std::string_view name, std::string_view core, int64_t begin_ns, int64_t dur_ns,
           int64_t wait_ns, int64_t task_id) {
    store.kernels.Append({.step = 1,
                          .stream = task_id == store::kNone ? store::kNone : 2,
                          .task_id = task_id,
                          .name = Text(name),
                          .core = Text(core),
                          .begin_ns = begin_ns,
                          .dur_ns = dur_ns,
                          .wait_ns = wait_ns});
  }

  void AddL2Cache(double task_id, std::string_view name) {
    store::DynamicTable& sheet = store.sheets.emplace_back();
    sheet.name = "l2_cache";
    sheet.columns.resize(3);
    sheet.columns[0].name = "Stream Id";
    sheet.columns[0].numbers.Append(2);
    sheet.columns[1].name = "Task Id";
    sheet.columns[1].numbers.Append(task_id);
    sheet.columns[2].name = "Op Name";
    sheet.columns[2].texts.Append(Text(name));
  }
};

TEST(VerifyKernelStarts, AreOnTheTimeline) { ExpectHolds(Kernels().Run("12"), "3 kernels"); }

TEST(VerifyKernelStarts, ReportsAKernelThatStartsElsewhere) {
  Kernels s;
  s.store.kernels.begin_ns.Set(1, 1154);
  const CheckResult result = s.Run("12");
  ExpectBroken(
      result, "2 of 4 kernels",
      "kernel_details row 2 (Add): nothing of that name starts at 1.154 us on the timeline");
  EXPECT_EQ(result.offending.back(), "trace: task Add at 1.153 us is in no row of kernel_details");
}

TEST(VerifyKernelStarts, AllowsCollectivesOneNsOnly) {
  Kernels s;
  s.store.kernels.begin_ns.Set(2, 1199);
  ExpectBroken(
      s.Run("12"), "1 of 3 kernels",
      "kernel_details row 3 (hcom_allReduce__1_0_1): nothing of that name starts at 1.199 us "
      "on the timeline");
}

TEST(VerifyKernelStarts, GiveEachTaskToOneKernelOnly) {
  Kernels s;
  s.Add("Add", "AI_CORE", 1153, 50, 0, 12);
  ExpectBroken(
      s.Run("12"), "1 of 4 kernels",
      "kernel_details row 4 (Add): nothing of that name starts at 1.153 us on the timeline");
}

TEST(VerifyL2Cache, HoldsKernelsOnly) {
  Kernels s;
  s.AddL2Cache(12, "Add");
  ExpectHolds(s.Run("13"), "1 tasks");
}

TEST(VerifyL2Cache, ReportsATaskThatIsNoKernel) {
  Kernels s;
  s.AddL2Cache(13, "Add");
  ExpectBroken(s.Run("13"), "1 of 1 tasks",
               "l2_cache row 1: no kernel Add with stream 2 and task 13");
}

TEST(VerifyL2Cache, IsComparedByNameAtLevel0) {
  Kernels s;
  s.AddL2Cache(13, "Add");
  for (size_t i = 0; i < s.store.kernels.size(); ++i) s.store.kernels.task_id.Set(i, store::kNone);
  ExpectHolds(s.Run("13"),
              "1 tasks; names only, kernel_details of Level0 has no stream and task ids");
}

TEST(VerifyKernelOrder, IsByStart) {
  Kernels s;
  ExpectHolds(s.Run("kernels.order"), "3 kernels");
  s.store.kernels.begin_ns.Set(1, 900);
  ExpectBroken(s.Run("kernels.order"), "1 of 3 kernels",
               "kernel_details row 2 (Add) starts at 0.900 us, before the row above it (1.003 us)");
}

TEST(VerifyKernelWait, IsTheGapToTheRowAbove) {
  Kernels s;
  s.store.kernels.wait_ns.Set(1, 48);  // two roundings
  ExpectHolds(s.Run("kernels.wait"), "3 kernels");
  s.store.kernels.wait_ns.Set(1, 47);
  ExpectBroken(s.Run("kernels.wait"), "1 of 3 kernels, largest deviation 0.003 us",
               "kernel_details row 2 (Add): Wait Time is 0.047 us, expected 0.050 us");
}

TEST(VerifyKernelWait, IsCoarserWhereFilesNameTheDevice) {
  Kernels s;
  for (size_t i = 0; i < s.store.kernels.size(); ++i) s.store.kernels.device.Set(i, 0);
  s.store.kernels.wait_ns.Set(1, 300);
  ExpectHolds(s.Run("kernels.wait"), "3 kernels");
  s.store.kernels.wait_ns.Set(1, 301);
  EXPECT_EQ(s.Run("kernels.wait").state, CheckState::kBroken);
}

TEST(VerifyKernelWait, IsCoarsestWhereStartsWereDoubles) {
  TestStore s;
  s.Kernel("a", "a", "AI_CORE", 1000, 1100);
  s.Kernel("b", "b", "AI_CORE", 2000, 2100);
  s.store.kernels.wait_ns.Set(1, 900 + 500);
  ExpectHolds(s.Run("kernels.wait"), "1 kernels");
}

TEST(VerifyKernelStep, IsTheStepItStartsIn) {
  Kernels s;
  ExpectNotApplicable(s.Run("kernels.step"), "the steps are not marked on the timeline");
  s.Step(1, 500, 1200);  // touches the collective
  ExpectHolds(s.Run("kernels.step"), "3 kernels");
}

TEST(VerifyKernelStep, ReportsAnotherStep) {
  Kernels s;
  s.Step(1, 500, 1150);
  s.Step(2, 1150, 1180);
  const CheckResult result = s.Run("kernels.step");
  ExpectBroken(result, "2 of 3 kernels", "kernel_details row 2 (Add): Step Id is 1, expected 2");
  EXPECT_EQ(result.offending.back(),
            "kernel_details row 3 (hcom_allReduce__1_0_1): Step Id is 1, expected none");
}

TEST(VerifyStreamOverlap, KernelsOfAStreamRunOneAfterTheOther) {
  Kernels s;
  ExpectHolds(s.Run("kernels.stream_overlap"), "2 kernels");
  s.store.kernels.dur_ns.Set(0, 170);
  ExpectBroken(
      s.Run("kernels.stream_overlap"), "1 of 2 kernels",
      "kernel_details row 2 (Add) starts at 1.153 us, 0.020 us before kernel_details row 1 "
      "(MatMul) on stream 2 ends");
}

TEST(VerifyStreamOverlap, LeavesOutSubTasks) {
  Kernels s;
  s.store.kernels.dur_ns.Set(0, 170);
  s.store.kernels.context_id.Set(1, 3);
  ExpectHolds(s.Run("kernels.stream_overlap"), "1 kernels");
}

TEST(VerifyKernelRules, AreNotForGpuTraces) {
  Kernels s;
  s.store.info.source = store::Source::kKineto;
  for (const char* id : {"12", "kernels.order", "kernels.wait", "kernels.stream_overlap"}) {
    ExpectNotApplicable(s.Run(id), "no kernel_details");
  }
}

TEST(VerifyKernelDurations, AreThoseOfTheTimeline) {
  Kernels s;
  s.store.kernels.dur_ns.Set(0, 102);
  ExpectHolds(s.Run("12.duration"), "3 kernels");
  s.store.kernels.dur_ns.Set(0, 103);
  ExpectBroken(s.Run("12.duration"), "1 of 3 kernels, largest deviation 0.003 us",
               "kernel_details row 1 (MatMul): Duration is 0.103 us, expected 0.100 us");
}

}  // namespace
}  // namespace steplens::analysis::verify
