#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "readers/prof/known_families.h"
#include "readers/prof/prof.h"
#include "readers/prof/test_tree.h"
#include "store/trace_store.h"

// Damage of every kind: what is wrong is counted, the rest is used.
namespace steplens::readers {
namespace {

namespace raw = format::prof;
using prof::kDeviceFamilies;
using prof::kHostFamilies;
using prof_test::IssueCount;
using prof_test::ReadTree;
using prof_test::TestTree;

// Bytes of a record of the device's families; 1 for texts.
const std::map<std::string_view, size_t>& DeviceRecordBytes() {
  static const std::map<std::string_view, size_t> kBytes = {{"stars_soc", 64},
                                                            {"stars_soc_profile", 64},
                                                            {"hwts", 64},
                                                            {"ffts_profile", 128},
                                                            {"aicore", 128},
                                                            {"aiVectorCore", 128},
                                                            {"ts_track", 40},
                                                            {"lpmFreqConv", 888},
                                                            {"aicpu", 256},
                                                            {"l2_cache", 72},
                                                            {"socpmu", 80},
                                                            {"hbm", 24},
                                                            {"llc", 24},
                                                            {"ddr", 20},
                                                            {"npu_mem", 32},
                                                            {"npu_mem.app", 32},
                                                            {"npu_module_mem", 24},
                                                            {"pcie", 96},
                                                            {"qos", 64},
                                                            {"hccs", 1},
                                                            {"nic", 1},
                                                            {"roce", 1},
                                                            {"netdev_stats", 1},
                                                            {"dvpp", 1},
                                                            {"DATA_PREPROCESS.AICPU", 128}};
  return kBytes;
}

struct RecordFamily {
  std::string file;
  size_t record_bytes = 1;
  bool has_host_head = false;
  bool is_device = false;
};

std::vector<RecordFamily> AllFamilies() {
  std::vector<RecordFamily> families;
  for (const std::string_view name : kHostFamilies) {
    const bool is_text = name.ends_with("_dic") || name.starts_with("host_");
    const bool has_age = name.find('.') != name.npos || name == "api_event";
    RecordFamily family;
    family.file = "host/data/" + std::string(has_age ? "aging." : "") + std::string(name) +
                  (name == "api_event" || !has_age ? ".data" : "") + ".slice_0";
    family.has_host_head = !is_text;
    family.record_bytes = is_text                         ? 1
                          : name == "api_event"           ? 40
                          : name.starts_with("compact.")  ? 64
                          : name.starts_with("variable.") ? 256  // as a test of it writes them
                                                          : 256;
    families.push_back(family);
  }
  for (const std::string_view name : kDeviceFamilies) {
    RecordFamily family;
    family.file = "device_0/data/" + std::string(name) +
                  (name.find('.') == name.npos ? ".data" : "") + ".0.slice_0";
    family.record_bytes = DeviceRecordBytes().at(name);
    family.is_device = true;
    families.push_back(family);
  }
  return families;
}

// Any bytes, but with the marker of the family and small counts, so that records are taken.
std::string Noise(const RecordFamily& family, size_t records, std::mt19937& dice) {
  std::string bytes;
  for (size_t i = 0; i < records; ++i) {
    std::string record(std::max<size_t>(family.record_bytes, 2), '\0');
    for (char& byte : record) byte = static_cast<char>(dice() % 3 == 0 ? dice() : 0);
    if (family.record_bytes == 1) {
      record = std::to_string(dice()) + ":" + std::to_string(dice() % 1000);
      for (int word = 0; word < 14; ++word) record += " " + std::to_string(dice() % 100000);
      record += "\n";
    } else if (family.has_host_head || family.record_bytes == 256) {
      const raw::RecordHead head{raw::kHostMagic, 10000, static_cast<uint32_t>(dice() % 14), 1, 232,
                                 dice()};
      std::memcpy(record.data(), &head, sizeof(head));
    } else if (family.file.find("AICPU") != family.file.npos) {
      const uint16_t head[] = {raw::kHostMagic, raw::kAicpuNodeTag};
      std::memcpy(record.data(), head, sizeof(head));
    } else if (family.file.find("stars_soc") != family.file.npos) {
      const uint16_t head[] = {static_cast<uint16_t>(dice()), raw::kStarsMagic};
      std::memcpy(record.data(), head, sizeof(head));
    }
    bytes += record;
  }
  return bytes;
}

void ExpectSound(const store::TraceStore& out) {
  for (size_t i = 0; i < out.slices.size(); ++i) {
    ASSERT_LT(static_cast<size_t>(out.slices.track[i]), out.tracks.size());
    ASSERT_GE(out.slices.dur_ns[i], 0);
  }
  for (const store::DynamicColumn& column : out.kernel_metrics)
    ASSERT_EQ(column.size(), out.kernels.size());
  for (const store::DynamicTable& sheet : out.sheets) {
    for (const store::DynamicColumn& column : sheet.columns) ASSERT_EQ(column.size(), sheet.size());
  }
}

// A kernel on stream 2: task, launch and run.
void AddKernel(TestTree& tree, uint16_t task, uint64_t at) {
  tree.Api(raw::kLevelNode, 5, at, at + 80, 11);
  tree.Task(at + 50, 2, task, raw::kTaskKernelAicore);
  tree.Run(0, 2, task, at + 100, at + 150);
}

void AddNames(TestTree& tree) {
  tree.Type(5000, 0, "KERNEL_AICORE");
  tree.Hash(11, "MatMul");
}

// Every family, cut at every place: whole records are used, what is left over is counted.
TEST(ReadProfDamage, EveryTruncationOfEveryFamily) {
  std::mt19937 dice(1);
  for (const RecordFamily& family : AllFamilies()) {
    SCOPED_TRACE(family.file);
    TestTree tree;
    tree.WriteText("device_0/sample.json", R"({"qosEvents":"A,B","npuEvents":"SMMU:0x2,0x8a"})");
    const std::string whole = Noise(family, 2, dice);
    const size_t step = whole.size() > 300 ? 17 : whole.size() > 60 ? 5 : 3;
    for (size_t length = 0; length <= whole.size(); length += step) {
      tree.WriteText(family.file, std::string_view(whole).substr(0, length));
      const store::TraceStore out = ReadTree(tree, 1);
      ExpectSound(out);
      const bool is_variable = family.file.find("variable") != family.file.npos;
      const bool is_read = family.file.find("hwts") == family.file.npos &&
                           family.file.find("aicore") == family.file.npos &&
                           family.file.find("aiVectorCore") == family.file.npos;
      if (family.record_bytes == 1 || is_variable || !is_read) continue;
      EXPECT_EQ(IssueCount(out, store::IssueKind::kRecordsTruncated) > 0,
                length % family.record_bytes != 0)
          << length;
    }
  }
}

TEST(ReadProfDamage, AnyBytesInEveryFamily) {
  std::mt19937 dice(2);
  for (const int chip : {1, 5, 15}) {
    for (const std::string_view mode : {"task-based", "sample-based"}) {
      for (const RecordFamily& family : AllFamilies()) {
        SCOPED_TRACE(family.file);
        TestTree tree;
        AddNames(tree);
        AddKernel(tree, 1, 1000);
        tree.WriteText("device_0/info.json.0",
                       R"({"platform_version":")" + std::to_string(chip) +
                           R"(","drvVersion":467732,"DeviceInfo":[{"hwts_frequency":"50",)"
                           R"("aic_frequency":"1000","ai_core_num":2}]})");
        tree.WriteText("device_0/sample.json",
                       R"({"ai_core_profiling_mode":")" + std::string(mode) +
                           R"(","ai_core_metrics":"Memory","ai_core_profiling_events":"0x15"})");
        tree.AppendBytes(family.file, Noise(family, 1 + dice() % 5, dice));
        std::string junk(dice() % 300, '\0');
        for (char& byte : junk) byte = static_cast<char>(dice());
        tree.AppendBytes(family.file, junk);
        ExpectSound(ReadTree(tree, 1));
      }
    }
  }
}

// Names say the rest: nothing here depends on what a family's records mean.
TEST(ReadProfDamage, EveryFamilyThatIsReadIsTestedHere) {
  EXPECT_EQ(AllFamilies().size(), std::size(kHostFamilies) + std::size(kDeviceFamilies));
  TestTree tree;
  std::mt19937 dice(3);
  for (const RecordFamily& family : AllFamilies())
    tree.AppendBytes(family.file, Noise(family, 2, dice));
  const store::TraceStore out = ReadTree(tree);
  ExpectSound(out);
  EXPECT_EQ(IssueCount(out, store::IssueKind::kEventKindIgnored),
            0u);  // names are those of the reader
}

TEST(ReadProfDamage, SlicesMissingAtEitherEnd) {
  TestTree tree;
  AddNames(tree);
  for (uint16_t i = 0; i < 12; ++i) AddKernel(tree, i, 1000 + i * 1000u);
  // Slices of 100 bytes: a run is 128.
  const std::filesystem::path data = std::filesystem::path(tree.path()) / "device_0/data";
  std::string bytes;
  {
    std::ifstream file(data / "stars_soc.data.0.slice_0", std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::filesystem::remove(data / "stars_soc.data.0.slice_0");
  for (size_t i = 0; i * 100 < bytes.size(); ++i)
    tree.AppendBytes("device_0/data/stars_soc.data.0.slice_" + std::to_string(i),
                     bytes.substr(i * 100, 100));
  EXPECT_EQ(ReadTree(tree).kernels.size(), 12u);
  std::filesystem::remove(data / "stars_soc.data.0.slice_15");
  store::TraceStore out = ReadTree(tree);
  EXPECT_EQ(out.kernels.size(), 11u);  // 1500 of 1536 bytes
  EXPECT_EQ(IssueCount(out, store::IssueKind::kRecordsTruncated), 1u);
  std::filesystem::remove(data / "stars_soc.data.0.slice_0");
  out = ReadTree(tree);
  // Now bytes are too many at both ends; the first record that is whole begins at byte 28.
  EXPECT_EQ(out.kernels.size(), 10u);
  EXPECT_EQ(IssueCount(out, store::IssueKind::kRecordsTruncated), 1u);
  EXPECT_EQ(IssueCount(out, store::IssueKind::kRecordDamaged), 0u);
  ExpectSound(out);
}

// Records are cut nowhere, but the process died within the last one: nothing is shifted by it.
TEST(ReadProfDamage, AgedStreamOfAKilledJob) {
  TestTree tree;
  AddNames(tree);
  for (uint16_t i = 0; i < 6; ++i) AddKernel(tree, i, 1000 + i * 1000u);
  const std::filesystem::path data = std::filesystem::path(tree.path()) / "device_0/data";
  std::filesystem::rename(data / "stars_soc.data.0.slice_0", data / "stars_soc.data.0.slice_7");
  std::filesystem::resize_file(data / "stars_soc.data.0.slice_7", 6 * 128 - 10);
  const store::TraceStore out = ReadTree(tree);
  EXPECT_EQ(out.kernels.size(), 5u);
  EXPECT_EQ(IssueCount(out, store::IssueKind::kRecordsTruncated), 1u);
  EXPECT_EQ(IssueCount(out, store::IssueKind::kRecordDamaged), 0u);
}

// The device's counter jumps back, the host's records lie in any order, and one task ends before
// it begins.
TEST(ReadProfDamage, ClocksThatGoBack) {
  TestTree forward;
  TestTree tree("back");
  for (TestTree* each : {&forward, &tree}) AddNames(*each);
  for (uint16_t i = 0; i < 8; ++i) AddKernel(forward, i, 1000 + i * 1000u);
  for (uint16_t i = 8; i-- > 0;) AddKernel(tree, i, 1000 + i * 1000u);
  const store::TraceStore expected = ReadTree(forward);
  store::TraceStore out = ReadTree(tree);
  ASSERT_EQ(out.kernels.size(), expected.kernels.size());
  for (size_t i = 0; i < out.kernels.size(); ++i) {
    EXPECT_EQ(out.kernels.begin_ns[i], expected.kernels.begin_ns[i]);
    EXPECT_EQ(out.kernels.task_id[i], expected.kernels.task_id[i]);
    EXPECT_EQ(out.kernels.correlation[i], expected.kernels.correlation[i]);
  }
  tree.Run(0, 2, 99, 50'000, 40'000);
  out = ReadTree(tree);
  ExpectSound(out);
  EXPECT_EQ(out.kernels.size(), 8u);
}

// The counter of the device stands before that of dev_start.log: times before the capture are left
// out, none is made up.
TEST(ReadProfDamage, CountersBeforeTheirAnchor) {
  TestTree tree;
  AddNames(tree);
  AddKernel(tree, 1, 1000);
  tree.WriteText("device_0/dev_start.log.0", "clock_monotonic_raw: 0\ncntvct: 100000\n");
  const store::TraceStore out = ReadTree(tree);
  ExpectSound(out);
  EXPECT_EQ(out.kernels.size(), 0u);
}

TEST(ReadProfDamage, OneIdOfSeveralTasksIsCounted) {
  TestTree tree;
  AddNames(tree);
  AddKernel(tree, 1, 1000);
  AddKernel(tree, 1, 2000);
  AddKernel(tree, 2, 3000);
  const store::TraceStore out = ReadTree(tree);
  EXPECT_EQ(out.kernels.size(), 1u);
  EXPECT_EQ(out.device_tasks.size(), 3u);
  const auto& entry = out.issues.entry(store::IssueKind::kRecordDamaged);
  EXPECT_EQ(entry.count, 1u);
  EXPECT_EQ(entry.example, "device 0: the host gave one id to several tasks");
}

TEST(ReadProfDamage, RecordsOfUnknownKindsAreLeftOut) {
  TestTree tree;
  AddNames(tree);
  AddKernel(tree, 1, 1000);
  tree.Log(0b111111, 0, 2, 7, 5000);
  raw::TsTrack track{};
  track.function = 0x77;
  tree.Append("device_0/data/ts_track.data.0.slice_0", track);
  tree.Aicpu(99, 10, track);
  tree.Task(1060, 3, 1, 12345);
  tree.Run(63, 3, 1, 6000, 6100);
  const store::TraceStore out = ReadTree(tree);
  EXPECT_EQ(out.kernels.size(), 1u);
  ASSERT_EQ(out.device_tasks.size(), 2u);
  EXPECT_EQ(out.Text(out.device_tasks.type[1]), "12345");
  EXPECT_TRUE(out.issues.empty());
}

// Somebody is still writing: each read sees a beginning of what there will be.
TEST(ReadProfDamage, FolderThatIsStillBeingWritten) {
  TestTree tree;
  AddNames(tree);
  AddKernel(tree, 0, 1000);
  std::atomic<bool> is_done = false;
  std::thread writer([&] {
    for (uint16_t i = 1; i < 300; ++i) AddKernel(tree, i, 1000 + i * 1000u);
    is_done = true;
  });
  size_t before = 1;
  for (bool is_last = false; !is_last;) {
    is_last = is_done;
    const store::TraceStore out = ReadTree(tree);
    ExpectSound(out);
    EXPECT_GE(out.device_tasks.size(), before);
    before = out.device_tasks.size();
  }
  writer.join();
  EXPECT_EQ(ReadTree(tree).kernels.size(), 300u);
}

TEST(ReadProfDamage, NothingInTheFolderIsChanged) {
  TestTree tree;
  AddNames(tree);
  AddKernel(tree, 0, 1000);
  const auto snapshot = [&] {
    std::map<std::string, std::filesystem::file_time_type> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree.path()))
      files[entry.path().string()] = entry.last_write_time();
    return files;
  };
  const auto before = snapshot();
  ReadTree(tree);
  EXPECT_EQ(snapshot(), before);
}

}  // namespace
}  // namespace steplens::readers
