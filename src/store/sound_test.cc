#include "store/sound.h"

#include <gtest/gtest.h>

#include <functional>

namespace steplens::store {
namespace {

// One row of each table that refers to others.
TraceStore MakeSound() {
  TraceStore store;
  const StringId name = store.strings.Intern("a");
  store.tracks.Append({.name = name});
  store.tracks.Append({.parent = TrackId{0}, .name = name});
  store.slices.Append({.track = TrackId{1}, .begin_ns = 10, .dur_ns = 5, .name = name});
  store.host_ops.Append({.slice = SliceId{0}});
  store.flows.Append({.from_track = TrackId{1}, .from_ns = 10, .to_track = kNoTrack, .to_ns = 12});
  store.comm_ops.Append({.track = TrackId{1}, .name = name, .begin_ns = 1, .dur_ns = 0});
  store.steps.Append({.step = 1, .begin_ns = 1, .end_ns = 2});
  store.comm_bandwidths.Append({});
  store.comm_packets.Append({.bandwidth_row = 0});
  store.kernels.Append({});
  store.kernel_metrics.emplace_back().name = "ratio";
  store.kernel_metrics.back().numbers.Append(0.5);
  return store;
}

std::string FaultAfter(const std::function<void(TraceStore&)>& change) {
  TraceStore store = MakeSound();
  change(store);
  ThreadPool pool(2);
  return FindUnsound(store, pool);
}

TEST(FindUnsound, FindsNothingInWhatReadersMake) {
  EXPECT_EQ(FaultAfter([](TraceStore&) {}), "");
}

TEST(FindUnsound, IdsLeadSomewhere) {
  EXPECT_EQ(FaultAfter([](TraceStore& s) { s.slices.name.Set(0, StringId{2}); }),
            "slices.name leads nowhere");
  EXPECT_EQ(FaultAfter([](TraceStore& s) { s.slices.track.Set(0, TrackId{2}); }),
            "slices.track leads nowhere");
  EXPECT_EQ(FaultAfter([](TraceStore& s) { s.host_ops.slice.Set(0, SliceId{1}); }),
            "host_ops.slice leads nowhere");
  EXPECT_EQ(FaultAfter([](TraceStore& s) { s.comm_packets.bandwidth_row.Set(0, 1); }),
            "comm_packets.bandwidth_row leads nowhere");
  EXPECT_EQ(FaultAfter([](TraceStore& s) { s.tracks.parent.Set(0, TrackId{1}); }),
            "tracks.parent leads in a circle");
}

TEST(FindUnsound, ColumnsAreOfOneLength) {
  EXPECT_EQ(FaultAfter([](TraceStore& s) { s.slices.category.Append(StringId{0}); }),
            "slices.category has another length than its table");
  EXPECT_EQ(FaultAfter([](TraceStore& s) { s.kernels.Append({}); }),
            "kernel_metrics.ratio has another length than its table");
}

TEST(FindUnsound, TimesThatNobodyAsksForAreKnown) {
  for (const auto& spoil : std::initializer_list<std::function<void(TraceStore&)>>{
           [](TraceStore& s) { s.slices.begin_ns.Set(0, kNone); },
           [](TraceStore& s) { s.slices.dur_ns.Set(0, kNone); },
           [](TraceStore& s) { s.slices.dur_ns.Set(0, -1); },
           [](TraceStore& s) { s.flows.to_ns.Set(0, kNone); },
           [](TraceStore& s) { s.comm_ops.dur_ns.Set(0, kNone); },
           [](TraceStore& s) { s.steps.end_ns.Set(0, kNone); }}) {
    EXPECT_NE(FaultAfter(spoil).find("is not known, or negative"), std::string::npos)
        << FaultAfter(spoil);
  }
  EXPECT_EQ(FaultAfter([](TraceStore& s) { s.kernels.begin_ns.Set(0, kNone); }), "")
      << "a kernel's time may be unknown";
}

}  // namespace
}  // namespace steplens::store
