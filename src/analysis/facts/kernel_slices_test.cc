#include "analysis/facts/kernel_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/testing/random.h"
#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

using store::kNoId;
using store::kNoSlice;
using store::SliceId;
using store::TrackId;
using testing::ElementsAre;

// A rank with hardware streams and the track of a group.
class Device : public StoreBuilder {
 public:
  TrackId Stream(std::string_view tid, std::string_view label = "NPU 0") {
    const TrackId track = Thread(Process("Ascend Hardware", label), "Stream");
    store.tracks.tid.Set(static_cast<size_t>(track), Text(tid));
    return track;
  }
  TrackId Group() { return ThreadOf("Communication", "Group 0 Communication"); }

  void KernelAt(std::string_view name, int64_t begin_ns, int64_t device = store::kNone,
                int64_t stream = store::kNone, std::string_view core = "AI_CORE") {
    Kernel(name, "", core, begin_ns, begin_ns + 5, device);
    store.kernels.stream.Set(store.kernels.size() - 1, stream);
  }

  KernelSlices Match() const {
    const std::vector<TrackKind> tracks = ClassifyTracks(store);
    return MatchKernelSlices(store, tracks, DetectPlatform(store, tracks));
  }
};

TEST(KernelSlices, AKernelIsTheTaskOfItsNameAndStart) {
  Device d;
  const TrackId stream = d.Stream("2");
  d.Slice(stream, 10, 15, "EVENT_WAIT");
  const SliceId add = d.Slice(stream, 20, 25, "Add");
  const SliceId mul = d.Slice(stream, 30, 35, "Mul");
  d.KernelAt("Mul", 30);
  d.KernelAt("Add", 20);
  const KernelSlices match = d.Match();
  EXPECT_THAT(match.slice_of(), ElementsAre(mul, add));
  EXPECT_THAT(match.by_slice(), ElementsAre(1, 0));
  EXPECT_EQ(match.KernelOf(mul), 0u);
  EXPECT_EQ(match.KernelOf(add), 1u);
  EXPECT_EQ(match.KernelOf(SliceId{0}), kNoId);
}

TEST(KernelSlices, WhatTheTimelineDoesNotShowHasNoSlice) {
  Device d;
  const TrackId stream = d.Stream("2");
  d.Slice(d.ThreadOf("Python", "Thread 1"), 20, 25, "Add");  // the host's
  d.Slice(stream, 21, 26, "Add");                            // starts 1 ns later
  d.Slice(stream, 30, 35, "Mul");                            // has another name
  d.KernelAt("Add", 20);
  d.KernelAt("Add", 30);
  d.KernelAt("Add", store::kNone);
  EXPECT_THAT(d.Match().slice_of(), ElementsAre(kNoSlice, kNoSlice, kNoSlice));
}

TEST(KernelSlices, EqualOnesPairUpInOrderEachOnce) {
  Device d;
  const TrackId stream = d.Stream("2");
  d.KernelAt("Other", 5);  // so that they are not in the order of the tasks
  const SliceId first = d.Slice(stream, 20, 25, "Add");
  const SliceId second = d.Slice(stream, 20, 25, "Add");
  for (int i = 0; i < 3; ++i) d.KernelAt("Add", 20);
  const KernelSlices match = d.Match();
  EXPECT_THAT(match.slice_of(), ElementsAre(kNoSlice, first, second, kNoSlice));
  EXPECT_EQ(match.KernelOf(second), 2u);
}

TEST(KernelSlices, EqualOnesOfSeveralDevicesStayOnTheirs) {
  Device d;
  const SliceId on_0 = d.Slice(d.Stream("2", "NPU 0"), 20, 25, "Add");
  const SliceId on_1 = d.Slice(d.Stream("2", "NPU 1"), 20, 25, "Add");
  d.KernelAt("Add", 20, 1, 2);
  d.KernelAt("Add", 20, 0, 2);
  EXPECT_THAT(d.Match().slice_of(), ElementsAre(on_1, on_0));
}

TEST(KernelSlices, EqualOnesOfSeveralStreamsStayOnTheirs) {
  Device d;
  const SliceId on_2 = d.Slice(d.Stream("2"), 20, 25, "Add");
  const SliceId on_3 = d.Slice(d.Stream("3"), 20, 25, "Add");
  const SliceId on_4 = d.Slice(d.Stream("4"), 20, 25, "Add");
  d.KernelAt("Add", 20, 0);  // says no stream: takes what is left
  d.KernelAt("Add", 20, 0, 4);
  d.KernelAt("Add", 20, 0, 2);
  EXPECT_THAT(d.Match().slice_of(), ElementsAre(on_3, on_4, on_2));
}

TEST(KernelSlices, AnotherDeviceIdIsNoReasonToLoseASlice) {
  Device d;  // the id of the container and that of the host
  const SliceId add = d.Slice(d.Stream("2", "NPU 4"), 20, 25, "Add");
  d.KernelAt("Add", 20, 0, 2);
  EXPECT_THAT(d.Match().slice_of(), ElementsAre(add));
}

TEST(KernelSlices, ACollectiveIsTheOperationOfItsGroup) {
  Device d;
  d.Slice(d.Stream("2"), 20, 25, "hcom_allReduce__1");
  const TrackId group = d.Group();
  const SliceId exact = d.Slice(group, 20, 25, "hcom_allReduce__1");
  const SliceId later = d.Slice(group, 31, 35, "hcom_allReduce__2");
  const SliceId sooner = d.Slice(group, 39, 45, "hcom_allReduce__3");
  d.Slice(group, 52, 55, "hcom_allReduce__4");
  d.KernelAt("hcom_allReduce__1", 20, store::kNone, store::kNone, "COMMUNICATION");
  d.KernelAt("hcom_allReduce__2", 30, store::kNone, store::kNone, "HCCL");
  d.KernelAt("hcom_allReduce__3", 40, store::kNone, store::kNone, "HCCL");
  d.KernelAt("hcom_allReduce__4", 50, store::kNone, store::kNone, "HCCL");
  EXPECT_THAT(d.Match().slice_of(), ElementsAre(exact, later, sooner, kNoSlice));
}

TEST(KernelSlices, TheExactStartOfACollectiveGoesFirst) {
  Device d;
  const TrackId group = d.Group();
  const SliceId at_20 = d.Slice(group, 20, 25, "hcom_send_");
  const SliceId at_21 = d.Slice(group, 21, 25, "hcom_send_");
  d.KernelAt("hcom_send_", 21, store::kNone, store::kNone, "HCCL");
  d.KernelAt("hcom_send_", 20, store::kNone, store::kNone, "HCCL");
  EXPECT_THAT(d.Match().slice_of(), ElementsAre(at_21, at_20));
}

TEST(KernelSlices, AGpuRunsItsCollectivesOnStreamsAndAnnotationsAreNoWork) {
  StoreBuilder b;
  const TrackId stream = b.ThreadOf("python", "stream 7");
  b.Slice(stream, 20, 30, "gemm", "gpu_user_annotation");
  const SliceId gemm = b.Slice(stream, 20, 25, "gemm", "kernel");
  const SliceId nccl = b.Slice(stream, 30, 35, "ncclDevKernel_AllReduce", "kernel");
  b.Kernel("ncclDevKernel_AllReduce", "", "kernel", 30, 35);
  b.Kernel("gemm", "", "kernel", 20, 25);
  const std::vector<TrackKind> tracks = ClassifyTracks(b.store);
  ASSERT_EQ(DetectPlatform(b.store, tracks), Platform::kGpu);
  EXPECT_THAT(MatchKernelSlices(b.store, tracks, Platform::kGpu).slice_of(),
              ElementsAre(nccl, gemm));
}

TEST(KernelSlices, AnEmptyRankHasNone) {
  EXPECT_TRUE(Device().Match().slice_of().empty());
  Device kernels_only;
  kernels_only.KernelAt("Add", 20);
  EXPECT_THAT(kernels_only.Match().slice_of(), ElementsAre(kNoSlice));
  Device slices_only;
  slices_only.Slice(slices_only.Stream("2"), 20, 25, "Add");
  EXPECT_EQ(slices_only.Match().KernelOf(SliceId{0}), kNoId);
}

// As many kernels find a slice as can, each one of its name and start, no slice twice.
TEST(KernelSlices, PairsAsManyAsThereAre) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Device d;
    const TrackId streams[] = {d.Stream("1"), d.Stream("2")};
    std::map<std::pair<int64_t, StringId>, std::pair<size_t, size_t>> halves;  // by start and name
    for (int64_t n = RandomBelow(random, 20); n > 0; --n) {
      const int64_t at_ns = RandomBelow(random, 3);
      const std::string name(1, static_cast<char>('a' + RandomBelow(random, 2)));
      const auto key = std::pair(at_ns, d.Text(name));
      if (RandomBelow(random, 4) > 0) {
        d.KernelAt(name, at_ns, 0, 1 + RandomBelow(random, 2));
        ++halves[key].first;
      }
      if (RandomBelow(random, 4) > 0) {
        d.Slice(streams[RandomBelow(random, 2)], at_ns, at_ns + 5, name);
        ++halves[key].second;
      }
    }
    const KernelSlices match = d.Match();
    size_t possible = 0;
    for (const auto& [key, count] : halves) possible += std::min(count.first, count.second);
    size_t found = 0;
    for (uint32_t kernel = 0; kernel < match.slice_of().size(); ++kernel) {
      const SliceId slice = match.slice_of()[kernel];
      if (slice == kNoSlice) continue;
      ++found;
      ASSERT_EQ(match.KernelOf(slice), kernel);
      const auto row = static_cast<size_t>(slice);
      ASSERT_EQ(d.store.slices.begin_ns[row], d.store.kernels.begin_ns[kernel]);
      ASSERT_EQ(d.store.slices.name[row], d.store.kernels.name[kernel]);
    }
    ASSERT_EQ(found, possible) << "round " << round;
  }
}

}  // namespace
}  // namespace steplens::analysis
