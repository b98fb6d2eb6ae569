#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "format/prof/aicpu_records.h"
#include "format/prof/device_records.h"
#include "format/prof/host_records.h"
#include "readers/prof/prof.h"
#include "store/trace_store.h"

namespace steplens::readers::prof_test {

// A raw PROF_* folder made by hand. Host and device count ns (1000 MHz); the monotonic clock is 0
// when the day's is 0, so times come out as they go in.
class TestTree {
 public:
  // `name` tells several trees of one test apart.
  explicit TestTree(const std::string& name = "") : root_(MakeRoot(name)) {
    WriteText("host/info.json", R"({"platform_version":"5","pid":"7","hostname":"n0","hostUid":"u",
        "drvVersion":467732,"memoryTotal":1000,"CPU":[{"Frequency":"1000.000000"}],
        "DeviceInfo":[]})");
    WriteText("device_0/info.json.0", R"({"platform_version":"5","pid":"7","drvVersion":467732,
        "CPU":[{"Frequency":"1000.000000"}],"DeviceInfo":[{"hwts_frequency":"1000.000000",
        "aic_frequency":"1000","ai_core_num":2,"aiv_num":4}]})");
    WriteText("device_0/sample.json", R"({"profLevel":"l1","ai_core_metrics":"PipeUtilizationExct",
        "ai_core_profiling_events":"0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55",
        "aiv_metrics":"PipeUtilization",
        "aiv_profiling_events":"0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55"})");
    for (const char* side : {"host/start_info", "device_0/start_info.0"})
      WriteText(side, R"({"collectionTimeBegin":"0","clockMonotonicRaw":"0"})");
    for (const char* side : {"host/host_start.log", "device_0/host_start.log.0"})
      WriteText(side, "clock_monotonic_raw: 0\ncntvct: 0\n");
    WriteText("device_0/dev_start.log.0", "clock_monotonic_raw: 0\ncntvct: 0\n");
    std::filesystem::create_directories(root_ / "host/data");
    std::filesystem::create_directories(root_ / "device_0/data");
  }
  ~TestTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TestTree(const TestTree&) = delete;
  TestTree& operator=(const TestTree&) = delete;

  std::string path() const { return root_.string(); }

  void WriteText(const std::string& name, std::string_view text) { Write(name, text, false); }
  void AppendBytes(const std::string& name, std::string_view bytes) { Write(name, bytes, true); }
  template <typename Record>
  void Append(const std::string& name, const Record& record) {
    AppendBytes(name, {reinterpret_cast<const char*>(&record), sizeof(record)});
  }

  void Hash(uint64_t id, std::string_view text) {
    AppendBytes("host/data/unaging.additional.hash_dic.slice_0",
                std::to_string(id) + ":" + std::string(text) + "\n");
  }
  void Type(int level, int type, std::string_view text) {
    AppendBytes(
        "host/data/unaging.additional.type_info_dic.slice_0",
        std::to_string(level) + "_" + std::to_string(type) + ":" + std::string(text) + "\n");
  }
  void Api(uint16_t level, uint32_t type, uint64_t begin, uint64_t end, uint64_t item = 0) {
    Append("host/data/aging.api_event.data.slice_0",
           format::prof::ApiEvent{format::prof::kHostMagic, level, type, 1, 0, begin, end, item});
  }
  // A compact or an additional record with any payload.
  template <typename Payload>
  void Record(const std::string& family, uint16_t level, uint64_t time, const Payload& payload) {
    const bool is_compact = family.starts_with("compact.");
    const format::prof::RecordHead head{
        format::prof::kHostMagic, level, 0, 1, static_cast<uint32_t>(sizeof(payload)), time};
    std::string bytes(is_compact ? format::prof::kCompactBytes : format::prof::kAdditionalBytes,
                      '\0');
    std::memcpy(bytes.data(), &head, sizeof(head));
    std::memcpy(bytes.data() + sizeof(head), &payload, sizeof(payload));
    AppendBytes("host/data/aging." + family + ".slice_0", bytes);
  }
  // A record of AI CPU.
  template <typename Payload>
  void Aicpu(uint32_t type, uint64_t time, const Payload& payload) {
    const format::prof::RecordHead head{format::prof::kHostMagic,
                                        format::prof::kLevelAicpu,
                                        type,
                                        1,
                                        static_cast<uint32_t>(sizeof(payload)),
                                        time};
    std::string bytes(format::prof::kAdditionalBytes, '\0');
    std::memcpy(bytes.data(), &head, sizeof(head));
    std::memcpy(bytes.data() + sizeof(head), &payload, sizeof(payload));
    AppendBytes("device_0/data/aicpu.data.0.slice_0", bytes);
  }
  void Task(uint64_t time, uint16_t stream, uint32_t task, uint64_t type, uint16_t blocks = 1) {
    format::prof::TaskTrack track{};
    track.stream = stream;
    track.task = task;
    track.type = type;
    track.blocks = blocks;
    Record("compact.task_track", format::prof::kLevelRuntime, time, track);
  }
  void Log(uint16_t function, uint16_t type, uint16_t stream, uint16_t task, uint64_t time) {
    format::prof::StarsLog log{};
    log.head = static_cast<uint16_t>(function | type << 10);
    log.magic = format::prof::kStarsMagic;
    log.stream = stream;
    log.task = task;
    log.time = time;
    Append("device_0/data/stars_soc.data.0.slice_0", log);
  }
  void Run(uint16_t type, uint16_t stream, uint16_t task, uint64_t begin, uint64_t end) {
    Log(format::prof::kTaskStart, type, stream, task, begin);
    Log(format::prof::kTaskEnd, type, stream, task, end);
  }

 private:
  static std::filesystem::path MakeRoot(const std::string& name) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    std::filesystem::path root =
        std::filesystem::path(testing::TempDir()) / ("PROF_" + TestName(info) + name);
    std::filesystem::remove_all(root);
    return root;
  }
  // Names of tests with parameters hold slashes.
  static std::string TestName(const testing::TestInfo* info) {
    std::string name = std::string(info->test_suite_name()) + info->name();
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
  }
  void Write(const std::string& name, std::string_view bytes, bool appends) {
    const std::filesystem::path file = root_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | (appends ? std::ios::app : std::ios::trunc)) << bytes;
  }

  std::filesystem::path root_;
};

inline store::TraceStore ReadTree(const TestTree& tree, size_t threads = 2) {
  ThreadPool pool(threads);
  ReadOptions options;
  options.pool = &pool;
  store::TraceStore out;
  EXPECT_TRUE(ReadProf(tree.path(), options, out).ok());
  return out;
}

inline uint64_t IssueCount(const store::TraceStore& store, store::IssueKind kind) {
  return store.issues.entry(kind).count;
}

}  // namespace steplens::readers::prof_test
