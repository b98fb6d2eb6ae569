// The C++ wrapper: schedules become captures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collect/test_capture.h"
#include "steplens/collect.hpp"

namespace steplens::collect {
namespace {

using testing::ElementsAre;

class ProfilerTest : public testing::Test {
 protected:
  ProfilerOptions Options(const Schedule& schedule) {
    ProfilerOptions options;
    options.directory = folder_.path();
    options.worker = "worker";
    options.schedule = schedule;
    options.on_capture = [this](const std::string& capture) {
      std::vector<std::string> names;
      for (const auto& op : ReadOps(capture)) names.push_back(op.fields.at(format::kOpName));
      captures_.push_back(std::move(names));
    };
    return options;
  }
  static void Train(Profiler& profiler, int steps) {
    for (int step = 0; step < steps; ++step) {
      {
        const Range range("work");
      }
      profiler.Step();
    }
  }
  size_t FoldersLeft() const {
    const std::filesystem::directory_iterator entries(folder_.path());
    return static_cast<size_t>(std::distance(begin(entries), end(entries)));
  }

  ScratchFolder folder_;
  std::vector<std::vector<std::string>> captures_;
};

TEST_F(ProfilerTest, EachCycleIsACaptureOfItsActiveSteps) {
  Profiler profiler(Options({.wait = 1, .active = 2, .warmup = 1, .repeat = 2}));
  profiler.Start();
  Train(profiler, 10);
  profiler.Stop();
  EXPECT_THAT(captures_,
              ElementsAre(ElementsAre("work", "ProfilerStep#2", "work", "ProfilerStep#3"),
                          ElementsAre("work", "ProfilerStep#6", "work", "ProfilerStep#7")));
  EXPECT_THAT(profiler.folder(), testing::MatchesRegex(".*/worker_[0-9]+_[0-9]{17}_ascend_pt"));
}

TEST_F(ProfilerTest, StoppedInTheWarmUpLeavesNothing) {
  testing::internal::CaptureStderr();
  Profiler profiler(Options({.wait = 0, .active = 2, .warmup = 3}));
  profiler.Start();
  Train(profiler, 1);
  profiler.Stop();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("during the warm-up"));
  EXPECT_TRUE(captures_.empty());
  EXPECT_EQ(FoldersLeft(), 0u);
}

TEST_F(ProfilerTest, StoppedEarlyKeepsWhatIsThereAndSaysSo) {
  testing::internal::CaptureStderr();
  {
    Profiler profiler(Options({.wait = 0, .active = 5}));
    profiler.Start();
    Train(profiler, 2);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("may be incomplete"));
  ASSERT_EQ(captures_.size(), 1u);
  EXPECT_THAT(captures_[0], testing::Contains("ProfilerStep#1"));
}

TEST_F(ProfilerTest, WithoutAScheduleEverythingIsRecorded) {
  ProfilerOptions options = Options({});
  options.schedule.reset();
  Profiler profiler(options);
  profiler.Start();
  Train(profiler, 2);
  profiler.Stop();
  ASSERT_EQ(captures_.size(), 1u);
  EXPECT_THAT(captures_[0],
              ElementsAre("work", "ProfilerStep#0", "work", "ProfilerStep#1", "ProfilerStep#2"));
}

TEST_F(ProfilerTest, MisuseAndAFolderThatCannotBeMadeAreSaidAndSurvived) {
  testing::internal::CaptureStderr();
  ProfilerOptions options = Options({.active = 1});
  options.directory = "/dev/null/x";
  Profiler profiler(options);
  profiler.Step();
  profiler.Start();
  profiler.Start();
  Train(profiler, 2);
  profiler.Stop();
  profiler.Stop();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::HasSubstr("Step() without Start()"));
  EXPECT_THAT(said, testing::HasSubstr("running already"));
  EXPECT_THAT(said, testing::HasSubstr("cannot make this folder"));
  EXPECT_TRUE(captures_.empty());
}

}  // namespace
}  // namespace steplens::collect
