#include "store/merge.h"

#include <gtest/gtest.h>

#include <cmath>

namespace steplens::store {
namespace {

TraceStore MakePart(std::string_view name) {
  TraceStore store;
  TrackTable::Row track;
  track.name = store.strings.Intern(name);
  store.tracks.Append(track);
  SliceTable::Row slice;
  slice.track = TrackId{0};
  slice.name = store.strings.Intern(name);
  store.slices.Append(slice);
  HostOpTable::Row op;
  op.slice = SliceId{0};
  store.host_ops.Append(op);
  store.comm_bandwidths.Append({});
  CommPacketTable::Row packet;
  packet.bandwidth_row = 0;
  store.comm_packets.Append(packet);
  return store;
}

TEST(AppendStore, ShiftsIdsAndInternsTextsAgain) {
  TraceStore into = MakePart("a");
  AppendStore(into, MakePart("b"));
  ASSERT_EQ(into.slices.size(), 2u);
  EXPECT_EQ(into.slices.track[1], TrackId{1});
  EXPECT_EQ(into.Text(into.slices.name[0]), "a");
  EXPECT_EQ(into.Text(into.slices.name[1]), "b");
  EXPECT_EQ(into.host_ops.slice[1], SliceId{1});
  EXPECT_EQ(into.comm_packets.bandwidth_row[1], 1u);
  EXPECT_EQ(into.tracks.parent[1], kNoTrack);
}

TEST(AppendStore, TracksOfATimelineInSeveralFilesAreThereOnce) {
  const auto make = [](std::string_view stream) {
    TraceStore store;
    const auto text = [&](std::string_view t) { return store.strings.Intern(t); };
    store.tracks.Append(
        {.parent = TrackId{1}, .kind = text("thread"), .pid = text("3"), .tid = text(stream)});
    store.tracks.Append(
        {.kind = text("process"), .pid = text("3"), .name = text("Ascend Hardware")});
    store.slices.Append({.track = TrackId{0}});
    return store;
  };
  TraceStore into = make("2");
  AppendStore(into, make("2"));
  AppendStore(into, make("4"));
  ASSERT_EQ(into.tracks.size(), 3u);
  EXPECT_EQ(into.slices.track[1], TrackId{0});
  EXPECT_EQ(into.slices.track[2], TrackId{2});
  EXPECT_EQ(into.tracks.parent[2], TrackId{1});
}

TEST(AppendStore, PadsMetricColumnsThatOneSideLacks) {
  TraceStore into;
  into.kernels.Append({});
  into.kernel_metrics.emplace_back().name = "x";
  into.kernel_metrics.back().numbers.Append(1.0);
  TraceStore part;
  part.kernels.Append({});
  part.kernel_metrics.emplace_back().name = "y";
  part.kernel_metrics.back().numbers.Append(2.0);
  AppendStore(into, part);
  ASSERT_EQ(into.kernel_metrics.size(), 2u);
  EXPECT_TRUE(std::isnan(into.kernel_metrics[0].numbers[1]));
  EXPECT_TRUE(std::isnan(into.kernel_metrics[1].numbers[0]));
  EXPECT_EQ(into.kernel_metrics[1].numbers[1], 2.0);
}

TEST(AppendStore, RowNumbersOfOtherTablesMoveWithTheirRows) {
  TraceStore part;
  part.device_tasks.Append({.task_id = 1});
  part.comm_ops.Append({});
  part.kernels.Append({.device_task = 0});
  part.kernels.Append({});
  part.comm_tasks.Append({.comm_op = 0, .device_task = 0});
  TraceStore whole;
  AppendStore(whole, part);
  AppendStore(whole, part);
  EXPECT_EQ(whole.kernels.device_task[0], 0);
  EXPECT_EQ(whole.kernels.device_task[2], 1);
  EXPECT_EQ(whole.kernels.device_task[3], kNone);
  EXPECT_EQ(whole.comm_tasks.device_task[1], 1);
  EXPECT_EQ(whole.comm_tasks.comm_op[1], 1);
}

TEST(AppendStore, JoinsSheetsOfOneName) {
  const auto make = [](std::string_view text) {
    TraceStore store;
    DynamicTable& sheet = store.sheets.emplace_back();
    sheet.name = "task_time";
    sheet.columns.emplace_back().name = "kernel_name";
    sheet.columns.back().texts.Append(store.strings.Intern(text));
    return store;
  };
  TraceStore into = make("a");
  AppendStore(into, make("b"));
  ASSERT_EQ(into.sheets.size(), 1u);
  ASSERT_EQ(into.sheets[0].size(), 2u);
  EXPECT_EQ(into.Text(into.sheets[0].columns[0].texts[1]), "b");
}

TEST(AppendStore, NumbersBecomeTextsWhereTheOtherSideHasTexts) {
  TraceStore into;
  into.sheets.emplace_back().name = "s";
  into.sheets[0].columns.emplace_back().name = "x";
  into.sheets[0].columns[0].numbers.Append(1.0);
  TraceStore part;
  part.sheets.emplace_back().name = "s";
  part.sheets[0].columns.emplace_back().name = "x";
  part.sheets[0].columns[0].texts.Append(part.strings.Intern("t"));
  AppendStore(into, part);
  ASSERT_EQ(into.sheets[0].size(), 2u);
  EXPECT_EQ(into.Text(into.sheets[0].columns[0].texts[0]), "1");
  EXPECT_EQ(into.Text(into.sheets[0].columns[0].texts[1]), "t");
}

}  // namespace
}  // namespace steplens::store
