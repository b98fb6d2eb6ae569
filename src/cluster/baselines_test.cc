#include "cluster/baselines.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analysis/compare/runs/test_runs.h"
#include "base/archive.h"
#include "base/testing/scratch_folder.h"

namespace steplens::cluster {
namespace {

TEST(Baselines, SavesListsLoadsAndRemoves) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/deep/inside";
  const Baselines baselines(folder);
  EXPECT_TRUE(baselines.List()->empty());
  const analysis::runs::RunSummary run = analysis::runs::TestJob{}.Run();
  const Result<std::string> path = baselines.Save("nightly-1.2_x", run);
  ASSERT_TRUE(path.ok());
  EXPECT_EQ(*path, folder + "/nightly-1.2_x.baseline");
  ASSERT_TRUE(baselines.Save("a", run).ok());
  ASSERT_TRUE(baselines.Save("a", run).ok()) << "replaces it";
  std::ofstream(folder + "/other.txt") << "not ours";
  const auto entries = *baselines.List();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "a");
  EXPECT_EQ(entries[1].name, "nightly-1.2_x");
  EXPECT_GT(entries[0].size_bytes, 100u);
  EXPECT_EQ(ToBytes(*baselines.Load("a")), ToBytes(run));
  EXPECT_TRUE(baselines.Remove("a").ok());
  EXPECT_FALSE(std::filesystem::exists(folder + "/a.baseline"));
  EXPECT_EQ(baselines.Remove("a").error().code, ErrorCode::kNotFound);
}

TEST(Baselines, NamesThatLeaveTheFolderAreRefused) {
  const ScratchFolder scratch;
  const Baselines baselines(scratch.path());
  const analysis::runs::RunSummary run = analysis::runs::TestJob{}.Run();
  for (const char* name : {"", ".", "..", "../x", "a/b", "-x", ".x", "a b", "a\n"}) {
    EXPECT_EQ(baselines.Save(name, run).error().code, ErrorCode::kInvalidArgument) << name;
    EXPECT_EQ(baselines.Load(name).error().code, ErrorCode::kInvalidArgument) << name;
    EXPECT_EQ(baselines.Remove(name).error().code, ErrorCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(baselines.Save(std::string(101, 'a'), run).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(Baselines, AMissingOneNamesTheNearest) {
  const ScratchFolder scratch;
  const Baselines baselines(scratch.path());
  ASSERT_TRUE(baselines.Save("nightly", analysis::runs::TestJob{}.Run()).ok());
  EXPECT_EQ(baselines.Load("nighty").error().message,
            "there is no baseline 'nighty' in " + scratch.path() + "; did you mean 'nightly'?");
}

}  // namespace
}  // namespace steplens::cluster
