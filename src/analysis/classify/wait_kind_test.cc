#include "analysis/classify/wait_kind.h"

#include <gtest/gtest.h>

namespace steplens::analysis {
namespace {

TEST(WaitKindOf, ATaskOfAStreamWaitsForAnEventOrAnotherRank) {
  for (const char* name : {"EVENT_WAIT", "Event Wait", "cudaStreamWaitEvent", "Stream Wait Event",
                           "CAPTURE_WAIT", "STREAM_WAIT_EVENT"})
    EXPECT_EQ(WaitKindOf(name, TrackKind::kDevice), WaitKind::kEvent) << name;
  for (const char* name : {"Notify Wait", "NOTIFY_WAIT", "NOTIFY_WAIT_SQE"})
    EXPECT_EQ(WaitKindOf(name, TrackKind::kDevice), WaitKind::kNotify) << name;
  for (const char* name : {"EVENT_RECORD", "MatMulV2", "Wait", "",
                           "void at::native::elementwise_kernel_that_calls_wait_event<float>()"})
    EXPECT_EQ(WaitKindOf(name, TrackKind::kDevice), WaitKind::kNone) << name;
}

TEST(WaitKindOf, TheSameNameOnTheHostIsACall) {
  EXPECT_EQ(WaitKindOf("cudaStreamWaitEvent", TrackKind::kHost), WaitKind::kNone);
  EXPECT_EQ(WaitKindOf("cudaStreamSynchronize", TrackKind::kHost), WaitKind::kHost);
}

TEST(WaitKindOf, ASynchronisationThatIsShownOnItsStreamIsTheHostsWait) {
  using store::SliceKind;
  const auto kind_of = [](const char* name, SliceKind category) {
    return WaitKindOf(name, TrackKind::kDevice, category);
  };
  EXPECT_EQ(kind_of("Stream Sync", SliceKind::kDeviceSync), WaitKind::kHost);
  EXPECT_EQ(kind_of("Stream Wait Event", SliceKind::kDeviceSync), WaitKind::kEvent);
  EXPECT_EQ(kind_of("Stream Sync", SliceKind::kKernel), WaitKind::kNone);
}

// What the timeline does not show as busy is what the explanation calls a wait.
TEST(IsDeviceWait, IsWhatWaitKindOfSaysAndTheCategoryOfSynchronizations) {
  for (const char* name : {"EVENT_WAIT", "Notify Wait", "CAPTURE_WAIT", "MatMulV2", "MEMCPY_ASYNC"})
    EXPECT_EQ(IsDeviceWait(name), WaitKindOf(name, TrackKind::kDevice) != WaitKind::kNone) << name;
  EXPECT_TRUE(IsDeviceWait("cuda_sync"));
  EXPECT_FALSE(IsDeviceWait("kernel"));
}

}  // namespace
}  // namespace steplens::analysis
