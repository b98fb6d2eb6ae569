#include "analysis/verify/test_store.h"

namespace steplens::analysis::verify {
namespace {

constexpr int64_t kSecondNs = 1000000000;

TestStore OneSlice() {
  TestStore s;
  s.Slice(s.ThreadOf("Python", "Thread 1"), 100 * kSecondNs, 100 * kSecondNs + 1000, "aten::add",
          "cpu_op");
  return s;
}

TEST(VerifyImportIssues, BreakOnlyWhenDataIsLost) {
  TestStore s = OneSlice();
  s.store.issues.Add(store::IssueKind::kFlowWithoutEnd, "x");
  EXPECT_EQ(s.Run("import.issues").state, CheckState::kHolds);
  s.store.issues.Add(store::IssueKind::kEventDamaged, "trace_view.json: byte 12", 3);
  EXPECT_EQ(s.Run("import.issues").offending,
            std::vector<std::string>{"EventDamaged: 3 times, first: trace_view.json: byte 12"});
}

TEST(VerifyDurations, AreNeverNegative) {
  TestStore s = OneSlice();
  ExpectHolds(s.Run("trace.durations"), "1 durations");
  s.Kernel("MatMul", "MatMul", "AI_CORE", 5, 4);
  ExpectBroken(s.Run("trace.durations"), "1 of 2 durations",
               "kernels row 1 (MatMul) lasts -0.001 us");
}

TEST(VerifyDurations, WereNotNegativeInTheFiles) {
  TestStore s = OneSlice();
  s.store.issues.Add(store::IssueKind::kNegativeDuration, "trace_view.json: byte 12");
  ExpectBroken(s.Run("trace.durations"), "1 of 2 durations",
               "1 negative durations in the files, first: trace_view.json: byte 12");
}

TEST(VerifySession, HoldsEverything) {
  TestStore s = OneSlice();
  s.store.meta.Append({.name = s.Text("startTimeNs"), .value = s.Text("100500000000")});
  s.store.meta.Append({.name = s.Text("endTimeNs"), .value = s.Text("101000000000")});
  ExpectHolds(s.Run("trace.session"), "1 slices, kernels and collectives");
}

TEST(VerifySession, ReportsWhatHappenedLater) {
  TestStore s = OneSlice();
  s.store.meta.Append(
      {.name = s.Text("end_info.collectionTimeEnd"), .value = s.Text("98000000000")});
  ExpectBroken(
      s.Run("trace.session"), "1 of 1 slices, kernels and collectives",
      "slices row 1 (aten::add) runs from 100000000.000 us to 100000001.000 us, the capture "
      "from ? to 98000000.000 us");
}

TEST(VerifySession, NeedsToBeKnown) {
  ExpectNotApplicable(OneSlice().Run("trace.session"), "the capture does not say when it ran");
}

TestStore RankThree() {
  TestStore s = OneSlice();
  s.store.info.rank = 3;
  s.store.info.files.push_back({"r/profiler_info_3.json", 0, true, ""});
  s.store.info.files.push_back({"r/ASCEND_PROFILER_OUTPUT/trace_view.json", 0, true, ""});
  s.store.meta.Append({.name = s.Text("rank_id"), .value = s.Text("3")});
  return s;
}

TEST(VerifyRankIds, AgreeInAllFiles) {
  ExpectHolds(RankThree().Run("rank.id"), "2 files that name a rank");
}

TEST(VerifyRankIds, ReportsTheFileThatDiffers) {
  TestStore s = RankThree();
  s.store.info.files.push_back({"r/ascend_pytorch_profiler_4.db", 0, true, ""});
  ExpectBroken(s.Run("rank.id"), "1 of 3 files that name a rank",
               "r/ascend_pytorch_profiler_4.db: rank 4, expected 3");
}

TEST(VerifyRankIds, DoNotApplyToARankThatWasRenumbered) {
  TestStore s = RankThree();
  s.store.issues.Add(store::IssueKind::kDuplicateRank, "r");
  s.store.info.rank = 5;
  ExpectNotApplicable(s.Run("rank.id"),
                      "another folder has the same rank, this one has a number of its own");
}

}  // namespace
}  // namespace steplens::analysis::verify
