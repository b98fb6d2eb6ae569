#include "collect/auto_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "collect/json_text.h"
#include "steplens/collect.h"
#include "steplens/collect.hpp"

namespace steplens::collect {
namespace {

using testing::ElementsAre;

TEST(ParseAutoConfig, ReadsTheOptionsOfRecord) {
  const auto config = ParseAutoConfig(
      R"({"profile_step_start": 5, "profile_step_end": 7, "profile_ranks": [0, 3], "profile_level": "level2",
          "profile_export_type": ["text", "db"], "host_sys": ["cpu", "network"], "profile_save_path": "/a b",
          "job": "x", "unknown": {"a": [1]}})");
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->has_steps);
  EXPECT_EQ(config->step_start, 5);
  EXPECT_EQ(config->step_end, 7);
  EXPECT_THAT(config->ranks, ElementsAre(0, 3));
  EXPECT_EQ(config->level, "Level2");
  EXPECT_THAT(config->export_types, ElementsAre("text", "db"));
  EXPECT_EQ(config->host_sources, uint32_t{SL_HOST_CPU | SL_HOST_NETWORK});
  EXPECT_EQ(config->save_path, "/a b");
}

TEST(ParseAutoConfig, WrongTypesCountAsNotGiven) {
  const auto config = ParseAutoConfig(
      R"({"profile_step_start": "x", "profile_ranks": "all", "profile_level": 3, "profile_save_path": "", "host_sys": 1})");
  ASSERT_TRUE(config);
  EXPECT_FALSE(config->has_steps);
  EXPECT_THAT(config->ranks, ElementsAre(-1));
  EXPECT_EQ(config->level, "Level1");
  EXPECT_EQ(config->save_path, "./profile_dir");
  EXPECT_FALSE(ParseAutoConfig("[1]"));
  EXPECT_FALSE(ParseAutoConfig("{"));
  EXPECT_FALSE(ParseAutoConfig(""));
}

TEST(IsRankWanted, MinusOneAloneIsAll) {
  AutoConfig config;
  EXPECT_TRUE(IsRankWanted(config, 17));
  config.ranks = {0, 2};
  EXPECT_TRUE(IsRankWanted(config, 2));
  EXPECT_TRUE(IsRankWanted(config, -1)) << "a process without rank is rank 0";
  EXPECT_FALSE(IsRankWanted(config, 1));
  config.ranks = {-1, 2};
  EXPECT_FALSE(IsRankWanted(config, 1));
}

TEST(ConfigJson, IsValidAndCarriesTheLevel) {
  AutoConfig config;
  config.level = "a\"b";
  EXPECT_TRUE(IsJson(ConfigJson(config)));
  EXPECT_THAT(ConfigJson(config), testing::HasSubstr(R"("_profiler_level": "a\"b")"));
}

TEST(RankFromEnvironment, RankComesFirstAndIsText) {
  bool is_text = false;
  unsetenv("RANK");
  setenv("OMPI_COMM_WORLD_RANK", "4", 1);
  EXPECT_EQ(RankFromEnvironment(&is_text), 4);
  EXPECT_FALSE(is_text);
  setenv("RANK", "2", 1);
  EXPECT_EQ(RankFromEnvironment(&is_text), 2);
  EXPECT_TRUE(is_text);
  setenv("RANK", "two", 1);
  EXPECT_EQ(RankFromEnvironment(&is_text), 4);
  unsetenv("RANK");
  unsetenv("OMPI_COMM_WORLD_RANK");
}

TEST(CaptureName, IsNewEvenWithinAMillisecond) {
  const std::string first = CaptureName("node");
  EXPECT_NE(CaptureName("node"), first);
}

TEST(CaptureName, HasWorkerProcessAndTime) {
  EXPECT_THAT(CaptureName("node"), testing::MatchesRegex("node_[0-9]+_[0-9]{17}_ascend_pt"));
  EXPECT_THAT(CaptureName(""), testing::HasSubstr("_" + std::to_string(getpid()) + "_"));
}

// The table of the schedule, step by step: . none, w warm-up, r record, s record and save.
std::string Actions(const Schedule& schedule, int64_t steps) {
  std::string out;
  for (int64_t step = 0; step < steps; ++step) {
    out += ".wrs"[static_cast<size_t>(schedule(step))];
  }
  return out;
}

TEST(Schedule, FollowsItsCycles) {
  EXPECT_EQ(Actions({.wait = 1, .active = 2, .warmup = 1, .repeat = 2}, 10), ".wrs.wrs..");
  EXPECT_EQ(Actions({.wait = 0, .active = 1}, 3), "sss");
  EXPECT_EQ(Actions({.wait = 2, .active = 1, .warmup = 0, .repeat = 1, .skip_first = 1}, 6),
            "...s..");
  EXPECT_EQ(
      Actions(
          {.wait = 2, .active = 1, .warmup = 1, .repeat = 0, .skip_first = 1, .skip_first_wait = 1},
          8),
      ".ws..ws.");
  EXPECT_EQ(Actions({.wait = -3, .active = 0, .warmup = -1}, 2), "ss")
      << "impossible numbers are corrected";
}

}  // namespace
}  // namespace steplens::collect
