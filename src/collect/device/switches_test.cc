#include "collect/device/switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "collect/device/mspti.h"
#include "collect/device/mspti_records.h"
#include "format/device_record.h"

namespace steplens::collect {
namespace {

sl_device_config Config(int level) {
  sl_device_config config = {};
  config.level = level;
  config.aic_metrics = kNoMetrics;
  return config;
}

TEST(MakeSwitches, LevelsHaveTheMasksOfTheFrameworks) {
  EXPECT_EQ(MakeSwitches(Config(-1), {}).mask, 0u);
  EXPECT_EQ(MakeSwitches(Config(0), {}).mask, 0x801u);
  EXPECT_EQ(MakeSwitches(Config(1), {}).mask, 0x27u);
  EXPECT_EQ(MakeSwitches(Config(2), {}).mask, 0x12Fu);
}

TEST(MakeSwitches, EachSwitchAddsItsBit) {
  sl_device_config config = Config(1);
  config.l2_cache = config.mstx = config.profile_memory = config.op_attr = 1;
  EXPECT_EQ(MakeSwitches(config, {}).mask, 0x27u | 0x10 | 0x80 | 0x1000)
      << "attributes need the feature";
  EXPECT_EQ(MakeSwitches(config, {.op_attr = true}).mask, 0x27u | 0x10 | 0x80 | 0x1000 | 0x4000);
  sl_device_config shapes = Config(0);
  shapes.record_shapes = 1;
  EXPECT_EQ(MakeSwitches(shapes, {.aicore_shape = true}).mask, 0x801u | 0x800000000);
  EXPECT_EQ(MakeSwitches(shapes, {}).mask, 0x801u);
}

TEST(MakeSwitches, MetricsNeedALevelAndTheirFeature) {
  sl_device_config config = Config(1);
  config.aic_metrics = kMemoryAccess;
  EXPECT_EQ(MakeSwitches(config, {}).metrics, kPipeUtilization);
  EXPECT_EQ(MakeSwitches(config, {.memory_access = true}).metrics, kMemoryAccess);
  config.aic_metrics = 77;
  EXPECT_EQ(MakeSwitches(config, {}).metrics, kNoMetrics);
  config.level = 0;
  config.aic_metrics = 1;
  EXPECT_EQ(MakeSwitches(config, {}).metrics, kNoMetrics);
}

TEST(MakeSwitches, FrequenciesAreSettings) {
  sl_device_config config = Config(1);
  config.profile_memory = config.sys_io = config.sys_interconnection = 1;
  config.host_sys = "cpu,mem";
  const std::vector<std::pair<int, std::string>> expected = {
      {3, "50"}, {8, "cpu,mem"}, {5, "100"}, {6, "50"}};
  EXPECT_EQ(MakeSwitches(config, {}).settings, expected);
}

TEST(MakeSwitches, CountersOfTheDevicesMemoryDoNotRecordThatOfTasks) {
  sl_device_config config = Config(0);
  config.hardware_memory = 1;
  const DeviceSwitches switches = MakeSwitches(config, {});
  EXPECT_EQ(switches.mask & kTaskMemory, 0u);
  EXPECT_THAT(switches.settings, testing::ElementsAre(testing::Pair(3, "50")));
}

FeatureRecord Feature(const char* name, const char* version, const char* component = "all",
                      const char* compatibility = "0") {
  FeatureRecord record = {};
  std::strcpy(record.name, name);
  std::strcpy(record.feature_version, version);
  std::strcpy(record.component, component);
  std::strcpy(record.component_version, "all");
  std::strcpy(record.compatibility, compatibility);
  return record;
}

TEST(ReadFeatures, VersionsDecide) {
  const auto has_attr = [](FeatureRecord record) { return ReadFeatures(&record, 1).op_attr; };
  EXPECT_TRUE(has_attr(Feature("ATTR", "2")));
  EXPECT_TRUE(has_attr(Feature("ATTR", "2", "PTA")));
  EXPECT_FALSE(has_attr(Feature("ATTR", "2", "MindSpore")));
  EXPECT_FALSE(has_attr(Feature("ATTR", "1"))) << "theirs is older";
  EXPECT_FALSE(has_attr(Feature("ATTR", "3"))) << "theirs is newer";
  EXPECT_TRUE(has_attr(Feature("ATTR", "3", "all", "1"))) << "newer and compatible";
  EXPECT_FALSE(has_attr(Feature("ATTR", "x")));
  EXPECT_TRUE(ReadFeatures(nullptr, 0).op_attr == false);
}

format::DeviceActivity ActivityOf(const void* record, std::vector<std::string>* texts) {
  std::vector<uint8_t> bytes;
  EXPECT_TRUE(AppendActivity(record, &bytes));
  const auto item = *format::TlvReader(bytes).Next();
  format::DeviceActivity activity;
  EXPECT_TRUE(Decode(item.value, &activity));
  format::TlvReader fields = format::Fields(item.value, format::DeviceActivity::kFixedBytes);
  while (const auto field = fields.Next()) {
    texts->push_back(std::to_string(field->type) + ":" + std::string(format::AsText(field->value)));
  }
  return activity;
}

TEST(AppendActivity, KeepsWhatAKernelSays) {
  mspti::Kernel kernel = {};
  kernel.kind = format::kDeviceKernel;
  kernel.start = 100;
  kernel.end = 250;
  kernel.device = {3, 7};
  kernel.correlation_id = 42;
  kernel.type = "KERNEL_AICORE";
  kernel.name = "MatMul";
  std::vector<std::string> texts;
  const format::DeviceActivity activity = ActivityOf(&kernel, &texts);
  EXPECT_EQ(activity.kind, 2u);
  EXPECT_EQ(activity.end_ns - activity.start_ns, 150);
  EXPECT_EQ(activity.place, 3u);
  EXPECT_EQ(activity.lane, 7u);
  EXPECT_EQ(activity.correlation_id, 42u);
  EXPECT_THAT(texts, testing::ElementsAre("1:MatMul", "2:KERNEL_AICORE"));
}

TEST(AppendActivity, KeepsWhatACommunicationSays) {
  mspti::Communication comm = {};
  comm.kind = format::kDeviceCommunication;
  comm.data_type = 4;
  comm.count = 1024;
  comm.device = {1, 2};
  comm.algorithm = "RING";
  comm.name = "hcom_allReduce_";
  comm.comm_name = "group";
  std::vector<std::string> texts;
  const format::DeviceActivity activity = ActivityOf(&comm, &texts);
  EXPECT_EQ(activity.detail, 4u);
  EXPECT_EQ(activity.amount, 1024u);
  EXPECT_THAT(texts, testing::ElementsAre("1:hcom_allReduce_", "2:group", "3:RING"));
}

TEST(AppendActivity, LeavesOutKindsItDoesNotKnowAndMissingTexts) {
  mspti::Activity unknown = {99, 0};
  std::vector<uint8_t> bytes;
  EXPECT_FALSE(AppendActivity(&unknown, &bytes));
  EXPECT_TRUE(bytes.empty());
  mspti::Marker end = {};
  end.kind = format::kDeviceMarker;
  end.flag = 4;
  end.id = 9;
  end.timestamp = 5;
  std::vector<std::string> texts;
  const format::DeviceActivity activity = ActivityOf(&end, &texts);
  EXPECT_EQ(activity.start_ns, 5);
  EXPECT_EQ(activity.end_ns, 5);
  EXPECT_EQ(activity.amount, 9u);
  EXPECT_TRUE(texts.empty());
}

}  // namespace
}  // namespace steplens::collect
