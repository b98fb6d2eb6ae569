#include "record/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace steplens::record {
namespace {

using testing::HasSubstr;

constexpr Machine kCpuOnly{.has_npu = false};
constexpr Machine kWithNpu{.has_npu = true};

std::string WhyRefused(const Config& asked) {
  Config config = asked;
  const Status status = Settle(config, kCpuOnly);
  return status.ok() ? "" : status.error().message;
}

bool IsChanged(const Config& config, const std::string& option) {
  for (const Change& change : config.changes) {
    if (change.option == option) return true;
  }
  return false;
}

TEST(Settle, RefusesStepsThatCannotBe) {
  EXPECT_THAT(WhyRefused({.step_start = 0}), HasSubstr("first training step is 1"));
  EXPECT_THAT(WhyRefused({.step_start = 5, .step_end = 5}), HasSubstr("6 or more"));
  EXPECT_EQ(WhyRefused({.step_start = 5, .step_end = -1}), "");
}

TEST(ApplyMindSpeedRules, GivesTheDocumentedDefaults) {
  Config config;
  ApplyMindSpeedRules({}, config);
  EXPECT_EQ(config.step_start, 1);
  EXPECT_EQ(config.step_end, -1);
  EXPECT_EQ(config.ranks, std::vector<int64_t>{0});
  EXPECT_EQ(config.level, "level0");
  EXPECT_EQ(config.save_path, "./profile");
  EXPECT_TRUE(config.changes.empty());
}

TEST(ApplyMindSpeedRules, KeepsWhatWasGivenAndReplacesWhatCannotBe) {
  Config config{.step_start = 5, .step_end = 5, .ranks = {2, -1}, .level = "level2"};
  config.save_path = "p";
  ApplyMindSpeedRules({true, true, true, true, true}, config);
  EXPECT_EQ(config.step_start, 5);
  EXPECT_EQ(config.step_end, 6);
  EXPECT_EQ(config.ranks, std::vector<int64_t>{-1});
  EXPECT_EQ(config.level, "level2");
  EXPECT_EQ(config.save_path, "p");
  EXPECT_TRUE(IsChanged(config, "--profile-step-end"));
  Config negative{.step_start = -3, .step_end = 2};
  ApplyMindSpeedRules({.step_start = true, .step_end = true}, negative);
  EXPECT_EQ(negative.step_start, 1);
  EXPECT_EQ(negative.step_end, 2);
  EXPECT_TRUE(IsChanged(negative, "--profile-step-start"));
}

TEST(Settle, RefusesRanksAndNamesThatAreNone) {
  EXPECT_THAT(WhyRefused({.ranks = {-1, 2}}), HasSubstr("stands alone"));
  EXPECT_THAT(WhyRefused({.ranks = {-3}}), HasSubstr("no rank -3"));
  EXPECT_THAT(WhyRefused({.export_types = {"text", "csv"}}), HasSubstr("'csv'"));
  EXPECT_THAT(WhyRefused({.host_sys = {"gpu"}}), HasSubstr("'gpu'"));
  EXPECT_THAT(WhyRefused({.gc_threshold_ms = -1}), HasSubstr("not negative"));
}

TEST(Settle, WithoutAnNpuTheCpuIsTheDevice) {
  Config config;
  ASSERT_TRUE(Settle(config, kCpuOnly).ok());
  EXPECT_TRUE(config.with_cpu);
  EXPECT_TRUE(IsChanged(config, "--profile-with-cpu"));
}

TEST(Settle, WhatNeedsTheHostIsOffWithoutIt) {
  Config config{.with_stack = true, .record_shapes = true};
  ASSERT_TRUE(Settle(config, kWithNpu).ok());
  EXPECT_FALSE(config.with_stack);
  EXPECT_FALSE(config.record_shapes);
  EXPECT_TRUE(IsChanged(config, "--profile-with-stack"));
  EXPECT_TRUE(IsChanged(config, "--profile-record-shapes"));
}

TEST(Settle, RefusesRepetitionsThatCannotBe) {
  EXPECT_THAT(WhyRefused({.warmup = -1}), HasSubstr("--profile-warmup is -1"));
  EXPECT_THAT(WhyRefused({.repeat = -2}), HasSubstr("--profile-repeat is -2"));
  EXPECT_THAT(WhyRefused({.wait = -3}), HasSubstr("--profile-wait is -3"));
  EXPECT_THAT(WhyRefused({.step_end = -1, .repeat = 2}), HasSubstr("cannot be repeated"));
  EXPECT_THAT(WhyRefused({.worker_name = "a/b"}), HasSubstr("--worker-name: 'a/b'"));
}

TEST(Settle, SwitchesThatNeedOthersAreOffWithoutThem) {
  Config config{.level = "level0",
                .with_flops = true,
                .aic_metrics = "Memory",
                .op_attr = true,
                .mstx_include = {"a"}};
  ASSERT_TRUE(Settle(config, kWithNpu).ok());
  EXPECT_FALSE(config.with_flops);
  EXPECT_EQ(config.aic_metrics, "AiCoreNone");
  EXPECT_FALSE(config.op_attr);
  EXPECT_TRUE(config.mstx_include.empty());
  for (const char* option :
       {"--profile-with-flops", "--aic-metrics", "--op-attr", "--mstx-domain-include"}) {
    EXPECT_TRUE(IsChanged(config, option)) << option;
  }
  EXPECT_FALSE(IsChanged(config, "--mstx-domain-exclude"));
}

TEST(Settle, SwitchesOfADeviceHaveNoEffectWithoutOne) {
  const Config asked{.aic_metrics = "Memory", .l2_cache = true, .host_sys = {"cpu", "numa"}};
  Config config = asked;
  ASSERT_TRUE(Settle(config, kCpuOnly).ok());
  for (const char* option : {"--aic-metrics", "--l2-cache", "--host-sys"}) {
    EXPECT_TRUE(IsChanged(config, option)) << option;
  }
  EXPECT_TRUE(config.l2_cache) << "the program may find a device that is not seen from here";
  config = asked;
  ASSERT_TRUE(Settle(config, kWithNpu).ok());
  EXPECT_TRUE(config.changes.empty());
}

TEST(Settle, IncludedDomainsOutrankExcludedOnes) {
  Config config{.mstx = true, .mstx_include = {"a"}, .mstx_exclude = {"b"}};
  ASSERT_TRUE(Settle(config, kWithNpu).ok());
  EXPECT_EQ(config.mstx_include, std::vector<std::string>{"a"});
  EXPECT_TRUE(config.mstx_exclude.empty());
}

TEST(Settle, LevelNoneRecordsMarks) {
  Config config{.level = "level_none"};
  ASSERT_TRUE(Settle(config, kWithNpu).ok());
  EXPECT_TRUE(config.mstx);
}

TEST(ToJson, CarriesEverySetting) {
  Config config{.step_start = 5,
                .step_end = -1,
                .ranks = {0, 3},
                .export_types = {"db", "text"},
                .warmup = 2,
                .aic_metrics = "Memory",
                .l2_cache = true,
                .mstx = true,
                .mstx_include = {"mine"},
                .gc_threshold_ms = 1.5,
                .worker_name = "w",
                .job = "a \"b\""};
  ASSERT_TRUE(Settle(config, kCpuOnly).ok());
  const Result<JsonDocument> document = JsonDocument::Parse(ToJson(config), "settings");
  ASSERT_TRUE(document.ok());
  const JsonValue root = document->root();
  EXPECT_EQ(root["profile_step_start"].AsInt(), 5);
  EXPECT_EQ(root["profile_step_end"].AsInt(), -1);
  EXPECT_EQ(root["profile_ranks"].ToText(), "[0,3]");
  EXPECT_EQ(root["profile_export_type"].ToText(), "[\"db\",\"text\"]");
  EXPECT_EQ(root["gc_threshold_ms"].AsDouble(), 1.5);
  EXPECT_EQ(root["job"].AsString(), "a \"b\"");
  EXPECT_EQ(root["profile_warmup"].AsInt(), 2);
  EXPECT_EQ(root["aic_metrics"].AsString(), "Memory");
  EXPECT_EQ(root["l2_cache"].AsBool(), true);
  EXPECT_EQ(root["mstx_domain_include"].ToText(), "[\"mine\"]");
  EXPECT_EQ(root["worker_name"].AsString(), "w");
  EXPECT_EQ(root["profile_with_cpu"].AsBool(), true);
}

TEST(ToTable, SaysWhyASettingWasChanged) {
  Config config;
  ASSERT_TRUE(Settle(config, kCpuOnly).ok());
  const table::Table table = ToTable(config);
  const table::Column& options = *table.Find("Option");
  const table::Column& reasons = *table.Find("Changed, because");
  for (size_t row = 0; row < table.rows(); ++row) {
    EXPECT_EQ(!reasons.texts[row].empty(), options.texts[row] == "--profile-with-cpu");
  }
}

}  // namespace
}  // namespace steplens::record
