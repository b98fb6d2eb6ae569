#include "readers/ascend_text/profiler_info.h"

#include <gtest/gtest.h>

#include "base/testing/scratch_folder.h"
#include "readers/ascend_text/ascend_text.h"

namespace steplens::readers {
namespace {

using store::TraceStore;

Result<ProfilerInfo> ReadText(std::string_view text) {
  const ScratchFolder folder;
  return ReadProfilerInfo(folder.Write("profiler_info.json", text));
}

ProfilerInfo ReadInfo(std::string_view text) {
  const auto info = ReadText(text);
  EXPECT_TRUE(info.ok());
  return info.ok() ? *info : ProfilerInfo{};
}

TEST(ReadProfilerInfo, ReadsTheFormOfTorch) {
  const ProfilerInfo info = ReadInfo(
      R"({"config": {"experimental_config": {"_profiler_level": "Level1", "_export_type": ["text", "db"]}},
          "rank_id": "3"})");
  EXPECT_EQ(info.rank_id, 3);
  EXPECT_EQ(info.level, "Level1");
  EXPECT_EQ(info.export_type, "text,db");
}

TEST(ReadProfilerInfo, ReadsTheFormOfMindSpore) {
  const ProfilerInfo info = ReadInfo(
      R"({"profiler_parameters": {"profiler_level": "ProfilerLevel.Level2", "export_type": ["ExportType.Text"]},
          "ms_profiler_info": {"rank_id": "5", "device_id": "1"}})");
  EXPECT_EQ(info.rank_id, 5);
  EXPECT_EQ(info.level, "Level2");
  EXPECT_EQ(info.export_type, "text");
}

TEST(ReadProfilerInfo, LeavesOutWhatIsNotSaid) {
  const ProfilerInfo info = ReadInfo("{}");
  EXPECT_EQ(info.rank_id, store::kNone);
  EXPECT_EQ(info.level, "");
  EXPECT_EQ(info.export_type, "");
}

TEST(ReadProfilerInfo, GivesLevelsOneSpelling) {
  for (const auto& [written, expected] :
       {std::pair("level0", "Level0"), std::pair("Level_none", "LevelNone"),
        std::pair("LevelNone", "LevelNone"), std::pair("odd", "odd")}) {
    const std::string text =
        std::string(R"({"profiler_parameters": {"profiler_level": ")") + written + R"("}})";
    EXPECT_EQ(ReadInfo(text).level, expected);
  }
}

TEST(ReadProfilerInfo, SaysWhatIsWrong) {
  EXPECT_EQ(ReadProfilerInfo("/no/such/profiler_info_0.json").error().code, ErrorCode::kNotFound);
  const auto list = ReadText("[]");
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kCorruptData);
}

TEST(ReadProfilerInfoFile, NamesScalarsByTheirPath) {
  TraceStore store;
  ASSERT_TRUE(ReadProfilerInfoFile(
                  {"profiler_info_0.json",
                   R"({"config": {"common_config": {"with_stack": true, "activities": ["CPU"],
                    "gc": null}}, "rank_id": 0})"},
                  store)
                  .ok());
  EXPECT_EQ(store.meta.size(), 4);
  EXPECT_EQ(store.FindMeta("config.common_config.with_stack"), "true");
  EXPECT_EQ(store.FindMeta("config.common_config.activities"), R"(["CPU"])");
  EXPECT_EQ(store.FindMeta("config.common_config.gc"), "");
  EXPECT_EQ(store.FindMeta("rank_id"), "0");
}

TEST(ReadProfilerMetadata, KeepsOneRowAMember) {
  TraceStore store;
  ASSERT_TRUE(ReadProfilerMetadata({"profiler_metadata.json",
                                    R"({"ENV_VARIABLES": {"HCCL_ALGO": ""}, "trace_id": "x"})"},
                                   store)
                  .ok());
  EXPECT_EQ(store.FindMeta("ENV_VARIABLES"), R"({"HCCL_ALGO":""})");
  EXPECT_EQ(store.FindMeta("trace_id"), "x");
}

}  // namespace
}  // namespace steplens::readers
