#include "analysis/compare/runs/baseline_file.h"

#include <gtest/gtest.h>

#include "analysis/compare/runs/test_runs.h"
#include "base/archive.h"

namespace steplens::analysis::runs {
namespace {

TEST(BaselineFile, ReadsBackWhatWasWritten) {
  const RunSummary run = TestJob{}.Run();
  const Result<RunSummary> again = FromBaseline(ToBaseline(run), "x");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(ToBytes(*again), ToBytes(run));
}

TEST(BaselineFile, DamageIsNoticedWhereverItIs) {
  const std::string bytes = ToBaseline(TestJob{.ranks = 1, .steps = 2}.Run());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(FromBaseline(std::string_view(bytes).substr(0, size), "x").ok()) << size;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    EXPECT_FALSE(FromBaseline(damaged, "x").ok()) << at;
  }
}

TEST(BaselineFile, SaysWhatIsWrong) {
  EXPECT_EQ(FromBaseline("{}", "f.baseline").error().message,
            "f.baseline: not a baseline of steplens");
  std::string newer = ToBaseline(TestJob{}.Run());
  newer[18] = 9;
  const Result<RunSummary> refused = FromBaseline(newer, "f");
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(refused.error().message,
            "f: the baseline has version 9, this program reads version 1; save it again");
}

// A checksum says that nothing happened to the bytes, not that they make sense.
TEST(BaselineFile, LengthsThatDoNotFitAreRefused) {
  RunSummary run = TestJob{}.Run();
  run.rows[0].calls.pop_back();
  EXPECT_FALSE(FromBaseline(ToBaseline(run), "x").ok());
  run = TestJob{}.Run();
  std::swap(run.steps[0], run.steps[1]);
  EXPECT_FALSE(FromBaseline(ToBaseline(run), "x").ok());
}

}  // namespace
}  // namespace steplens::analysis::runs
