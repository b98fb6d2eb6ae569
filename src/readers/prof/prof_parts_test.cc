// The parts of the reader by themselves.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "readers/prof/api_tree.h"
#include "readers/prof/device_logs.h"
#include "readers/prof/dictionary.h"
#include "readers/prof/enum_names.h"
#include "readers/prof/flips.h"
#include "readers/prof/prof_clock.h"
#include "readers/prof/prof_files.h"
#include "readers/prof/record_files.h"
#include "readers/prof/tensor_sets.h"
#include "readers/prof/text_lines.h"

namespace steplens::readers::prof {
namespace {

TEST(ParseSliceName, OfHostAndDevice) {
  const auto host = ParseSliceName("aging.compact.task_track.slice_12", store::kNone);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->family, "compact.task_track");
  EXPECT_EQ(host->number, 12u);
  EXPECT_TRUE(host->is_aging);
  EXPECT_EQ(ParseSliceName("unaging.api_event.data.slice_0", store::kNone)->family, "api_event");
  EXPECT_EQ(ParseSliceName("npu_mem.app.3.slice_0", 3)->family, "npu_mem.app");
  EXPECT_FALSE(ParseSliceName("stars_soc.data.1.slice_0", 0));  // another device's
  EXPECT_FALSE(ParseSliceName("stars_soc.data.0.slice_0.done", 0));
  EXPECT_FALSE(ParseSliceName("stars_soc.data.0.slice_x", 0));
}

TEST(CutIntoPieces, SurplusStandsAtTheEndIfSliceZeroIsThere) {
  store::IssueLog issues;
  const std::vector<Slice> slices = {{"a", 0, 100}, {"b", 1, 35}};
  const std::vector<Piece> pieces = CutIntoPieces(slices, 64, Cut::kAnywhere, issues);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].offset, 0u);
  EXPECT_EQ(pieces[0].bytes, 128u);
  EXPECT_EQ(issues.entry(store::IssueKind::kRecordsTruncated).count, 1u);
}

TEST(CutIntoPieces, MissingSliceBeginsANewStream) {
  store::IssueLog issues;
  const std::vector<Slice> slices = {{"a", 0, 64}, {"b", 2, 70}};
  const std::vector<Piece> pieces = CutIntoPieces(slices, 64, Cut::kAnywhere, issues);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[1].first_slice, 1u);
  EXPECT_EQ(pieces[1].offset, 6u);
  EXPECT_EQ(pieces[1].bytes, 64u);
}

TEST(CutIntoPieces, SlicesOfTheHostStandForThemselves) {
  store::IssueLog issues;
  const std::vector<Slice> slices = {{"a", 0, 70}, {"b", 1, 64}, {"c", 2, 0}};
  const std::vector<Piece> pieces = CutIntoPieces(slices, 64, Cut::kAtRecords, issues);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].bytes, 64u);
  EXPECT_EQ(pieces[1].first_slice, 1u);
}

TEST(SideClock, CountersAndDays) {
  ClockFacts facts;
  facts.host_monotonic_ns = 1000;
  facts.host_count = 500;
  facts.host_count_diff = 200;  // 2000 ns at 100 MHz
  facts.host_hz = 100 * kHzPerMhz;
  facts.device_hz = 49'999'001;
  facts.device_count = 10;
  facts.device_monotonic_ns = 50;
  facts.begin_us = 7;
  facts.begin_monotonic_ns = 4000;
  const SideClock clock(facts);
  EXPECT_EQ(clock.HostUtc(501), 3000 + 10 + 3000);
  EXPECT_EQ(clock.HostUtc(499), 3000 - 10 + 3000);
  EXPECT_EQ(clock.DeviceUtc(11), 3000 + 20 + 3000);  // 20.0004 ns
  EXPECT_EQ(clock.DeviceUtc(9), 3000 - 21 + 3000);   // rounded down
  EXPECT_EQ(clock.SinceStartUtc(2), 2000 + 3000 + 3000);
  EXPECT_EQ(clock.DeviceMonotonicUtc(60), 60 - 50 + 3000 + 3000);
  EXPECT_EQ(clock.end_ns - clock.begin_ns, int64_t{30} * 60 * 1'000'000'000);
  EXPECT_GT(clock.DeviceUtc(~uint64_t{0}), 0);  // a damaged counter does not overflow
}

TEST(SideClock, CounterOfAGigahertzIsNs) {
  ClockFacts facts;
  facts.host_monotonic_ns = 123;
  facts.host_count = 99;
  facts.host_hz = 1000 * kHzPerMhz;
  EXPECT_EQ(SideClock(facts).HostUtc(5), 5);
}

TEST(CorrectIds, BitsGoBackWhereTheyBelong) {
  EXPECT_EQ(CorrectIds(5, 7, 0, false).stream, 5u);
  EXPECT_EQ(CorrectIds(0x1005, 0x0007, 0, false).task, 7u);
  EXPECT_EQ(CorrectIds(0x3005, 0x0007, 0, false).task, 0x2007u);  // bit 12 wins
  const StreamTask swapped = CorrectIds(0x2123, 0xA005, 0, false);
  EXPECT_EQ(swapped.stream, 5u);
  EXPECT_EQ(swapped.task, 0xA123u);
  const StreamTask wide = CorrectIds(0x8123, 0x9005, 0, true);
  EXPECT_EQ(wide.stream, 0x1005u);
  EXPECT_EQ(wide.task, 0x8123u);
  EXPECT_EQ(CorrectIds(0x8123, 0x9005, 4, true).stream, 0x123u);
}

TEST(PairLogs, EndsGoWithTheLastStartBefore) {
  TaskLogs logs;
  const auto log = [](uint64_t time) {
    TaskLog row;
    row.time = time;
    row.stream = 1;
    return row;
  };
  logs.starts = {log(10), log(30), log(50)};
  logs.ends = {log(40), log(60)};  // the end of the first is lost
  store::IssueLog issues;
  const std::vector<DeviceTask> tasks = PairLogs(logs, {}, issues);
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].begin, 30u);
  EXPECT_EQ(tasks[0].end, 40u);
  EXPECT_EQ(tasks[1].begin, 50u);
  EXPECT_EQ(issues.entry(store::IssueKind::kCallWithoutReturn).count, 1u);
}

TEST(NumberHostTasks, TasksBehindAFlipMayBeOlder) {
  const auto task = [](uint64_t time, uint32_t id, uint32_t type) {
    LaunchedTask row;
    row.time = time;
    row.task = id;
    row.type = type;
    return row;
  };
  // The task 1 was recorded before the flip whose task is 3.
  std::vector<LaunchedTask> tasks = {task(10, 65535, 0), task(20, 1, 0), task(30, 3, 98),
                                     task(40, 4, 0), task(50, 0, 6)};
  NumberHostTasks(tasks, false);
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(tasks[0].batch, 0u);
  EXPECT_EQ(tasks[1].batch, 1u);
  EXPECT_EQ(tasks[2].batch, 1u);
}

TEST(Dictionary, LaterLinesWinAndUnknownIdsAreNumbers) {
  StringPool strings;
  Dictionary names(strings);
  EXPECT_TRUE(names.AddHashLine("5:a:b"));
  EXPECT_TRUE(names.AddHashLine("5:c"));
  EXPECT_FALSE(names.AddHashLine("x:c"));
  EXPECT_FALSE(names.AddHashLine("no colon"));
  EXPECT_TRUE(names.AddTypeLine("5000_26:TRACE"));
  EXPECT_FALSE(names.AddTypeLine("5000:TRACE"));
  EXPECT_EQ(names.HashText(5), "c");
  EXPECT_EQ(names.HashText(6), "6");
  EXPECT_EQ(names.TypeText(5000, 26), "TRACE");
  EXPECT_EQ(names.TypeText(5000, 27), "DYNAMIC_ENABLE");
}

TEST(EnumNames, SubFormatsAndUnknownNumbers) {
  EXPECT_EQ(TensorFormatName(0x0000021D), "FRACTAL_NZ:2");
  EXPECT_EQ(TensorFormatName(~uint32_t{0}), "UNDEFINED");
  EXPECT_EQ(TensorTypeName(5), "5");
  EXPECT_EQ(StarsTaskName(63), "UNKNOWN");
  EXPECT_EQ(HwtsTaskName(63), "Other");
  EXPECT_EQ(HcclRdmaName(~uint32_t{0}), "INVALID_TYPE");
}

TEST(ApiTree, InnerCallsAndPlacesOfTasks) {
  const auto api = [](uint16_t level, uint64_t begin, uint64_t end) {
    Api call;
    call.level = level;
    call.begin = begin;
    call.end = end;
    return call;
  };
  // A node in a node in a call of acl; the second call of acl overlaps the first and is left out.
  const ApiTree tree({api(20000, 0, 100), api(10000, 10, 90), api(10000, 20, 40),
                      api(20000, 95, 120), api(5000, 21, 39)});
  ASSERT_EQ(tree.nodes().size(), 3u);
  LaunchedTask task;
  task.time = 30;
  LaunchedTask later;
  later.time = 50;
  LaunchedTask outside;
  outside.time = 110;
  const std::vector<uint32_t> places = PlaceTasks(tree, {task, later, outside});
  EXPECT_EQ(places[0], 2u);
  EXPECT_EQ(places[1], 1u);
  EXPECT_EQ(places[2], kNoNode);
  EXPECT_EQ(tree.Ancestor(2, 20000), 0u);
}

TEST(ParseDeviceTime, SecondsAndNs) {
  EXPECT_EQ(ParseDeviceTime("176168:391356200"), 176168391356200u);
  EXPECT_FALSE(ParseDeviceTime("time"));
  EXPECT_FALSE(ParseDeviceTime(""));
}

}  // namespace
}  // namespace steplens::readers::prof
