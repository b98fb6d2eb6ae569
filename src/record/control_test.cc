#include "record/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/testing/scratch_folder.h"

namespace steplens::record {
namespace {

using testing::HasSubstr;

// A folder of jobs of its own, and a rank that is this process.
class Control : public testing::Test {
 protected:
  void SetUp() override { ::setenv("STEPLENS_JOBS", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("STEPLENS_JOBS"); }

  static void WriteRank(const Job& job, int rank, int64_t pid, int64_t step, double seconds) {
    char host[256] = "";
    ::gethostname(host, sizeof(host) - 1);
    std::ofstream(job.folder + "/rank_" + std::to_string(rank) + ".json")
        << "{\"rank\":" << rank << ",\"host\":\"" << host << "\",\"pid\":" << pid
        << ",\"step\":" << step << ",\"step_seconds\":" << seconds << ",\"state\":\"idle\"}";
  }
  static Job Reread(const std::string& name) {
    Result<Job> job = FindJob(name);
    EXPECT_TRUE(job.ok());
    return job.ok() ? *job : Job{};
  }

  ScratchFolder folder_;
};

TEST_F(Control, NamesThatWouldLeaveTheFolderAreRefused) {
  EXPECT_FALSE(CreateJob("../x").ok());
  EXPECT_FALSE(CreateJob(".").ok());
  EXPECT_FALSE(CreateJob("").ok());
  EXPECT_TRUE(CreateJob("train-1").ok());
}

TEST_F(Control, WithoutANameTheOnlyRunningJobIsMeant) {
  EXPECT_THAT(FindJob("").error().message, HasSubstr("steplens record -- program"));
  WriteRank(*CreateJob("a"), 0, ::getpid(), 1, 0);
  EXPECT_EQ(FindJob("")->name, "a");
  WriteRank(*CreateJob("b"), 0, ::getpid(), 1, 0);
  EXPECT_THAT(FindJob("").error().message, HasSubstr("a, b"));
  EXPECT_THAT(FindJob("c").error().message, HasSubstr("no job 'c'"));
}

TEST_F(Control, FoldersOfJobsThatEndedAreRemoved) {
  WriteRank(*CreateJob("old"), 0, 999999999, 7, 0);
  ASSERT_TRUE(CreateJob("new").ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "old"));
}

TEST_F(Control, RanksActAtAStepNoneHasReached) {
  const Job job = *CreateJob("a");
  WriteRank(job, 0, ::getpid(), 100, 0.5);
  WriteRank(job, 1, ::getpid(), 103, 0.25);
  // The furthest rank, two steps, and the steps of two seconds at the fastest pace: 103 + 2 + 8.
  const Result<int64_t> step = Send(Reread("a"), {.action = "start", .ranks = {1}, .steps = 3});
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(*step, 113);
  const Result<JsonDocument> command = JsonDocument::ReadFile(job.folder + "/command.json");
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->root().ToText(),
            R"({"id":1,"action":"start","ranks":[1],"at_step":113,"steps":3})");
}

TEST_F(Control, EveryRequestHasANewNumber) {
  WriteRank(*CreateJob("a"), 0, ::getpid(), 1, 1);
  ASSERT_TRUE(Send(Reread("a"), {.action = "start"}).ok());
  ASSERT_TRUE(Send(Reread("a"), {.action = "stop"}).ok());
  const Result<JsonDocument> command = JsonDocument::ReadFile(folder_ / "a/command.json");
  EXPECT_EQ(command->root()["id"].AsInt(), 2);
  EXPECT_EQ(command->root()["ranks"].AsString(), "all");
}

TEST_F(Control, StepsTooNearAndRanksUnknownAreRefused) {
  WriteRank(*CreateJob("a"), 0, ::getpid(), 50, 1);
  const Job job = Reread("a");
  EXPECT_THAT(Send(job, {.action = "start", .at_step = 51}).error().message, HasSubstr("is 54"));
  EXPECT_THAT(Send(job, {.action = "start", .ranks = {4}}).error().message, HasSubstr("rank 4"));
}

TEST_F(Control, ADamagedStatusIsNoRank) {
  const Job job = *CreateJob("a");
  std::ofstream(job.folder + "/rank_0.json") << "{\"rank\":";
  EXPECT_TRUE(Reread("a").ranks.empty());
  EXPECT_FALSE(Send(Reread("a"), {.action = "stop"}).ok());
}

TEST_F(Control, FoldersAreForThisUserAlone) {
  const Job job = *CreateJob("a");
  EXPECT_EQ(std::filesystem::status(job.folder).permissions(), std::filesystem::perms(0700));
  WriteRank(job, 0, ::getpid(), 1, 1);
  ASSERT_TRUE(Send(Reread("a"), {.action = "start"}).ok());
  EXPECT_EQ(std::filesystem::status(job.folder + "/command.json").permissions(),
            std::filesystem::perms(0600));
}

TEST_F(Control, FoldersThatOthersMayWriteToAreNotUsed) {
  WriteRank(*CreateJob("a"), 0, ::getpid(), 1, 1);
  std::filesystem::permissions(folder_ / "a", std::filesystem::perms(0777));
  std::vector<std::string> notes;
  EXPECT_TRUE(AllJobs(&notes).empty());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("others may write to it; it is not used"));
  EXPECT_THAT(CreateJob("a").error().message, HasSubstr("other users may write"));
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0777));
  EXPECT_THAT(CreateJob("b").error().message, HasSubstr("other users may write"));
}

TEST_F(Control, AJobThatIsALinkIsNotUsed) {
  std::filesystem::create_directory(folder_ / "real");
  std::filesystem::create_symlink(folder_ / "real", folder_ / "a");
  EXPECT_THAT(CreateJob("a").error().message, HasSubstr("is a link"));
}

// Never a name that another may have made.
TEST(JobsFolder, IsBelowWhatIsTheUsersOwn) {
  const ScratchFolder scratch;
  ::unsetenv("STEPLENS_JOBS");
  ::setenv("HOME", (scratch / "home").c_str(), 1);
  ::setenv("XDG_RUNTIME_DIR", scratch.path().c_str(), 1);
  EXPECT_EQ(JobsFolder(), scratch / "steplens/jobs");
  std::filesystem::permissions(scratch.path(), std::filesystem::perms(0777));
  EXPECT_THAT(JobsFolder(), testing::StartsWith(scratch / "home/.local/state/steplens/jobs/"));
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_THAT(JobsFolder(), testing::StartsWith(scratch / "home/"));
  ::unsetenv("HOME");
  EXPECT_EQ(JobsFolder(), "");
  EXPECT_THAT(CreateJob("a").error().message, HasSubstr("there is no private folder for it"));
}

}  // namespace
}  // namespace steplens::record
