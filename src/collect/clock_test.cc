#include "collect/clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace steplens::collect {
namespace {

TEST(Clock, NowGrows) {
  const uint64_t first = Now();
  const uint64_t second = Now();
  EXPECT_LE(first, second);
}

TEST(Clock, SamplesAgreeWithTheSystemsClocks) {
  const ClockSample sample = SampleClocks();
  EXPECT_NEAR(static_cast<double>(ClockNs(CLOCK_MONOTONIC_RAW) - sample.monotonic_raw_ns), 0, 1e8);
  EXPECT_NEAR(static_cast<double>(ClockNs(CLOCK_REALTIME) - sample.wall_ns), 0, 1e8);
}

// Converts a later counter value with the frequency of the log, as readers of profiler_info do.
TEST(ClockLog, TheFrequencyTurnsTicksIntoNanoseconds) {
  const ClockSample loaded = SampleClocks();
  ClockLog log;
  log.Start(loaded);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const ClockSample later = SampleClocks();
  log.Stop();
  const ClockSample& start = log.samples().front();
  const double ns = static_cast<double>(later.counter - start.counter) * 1000 / log.frequency_mhz();
  const auto expected = static_cast<double>(later.monotonic_raw_ns - start.monotonic_raw_ns);
  EXPECT_NEAR(ns, expected, 20'000);
}

TEST(ClockLog, KeepsFirstAndLastOfManySamples) {
  ClockLog log;
  log.Start(ClockSample());
  const ClockSample first = log.samples().front();
  for (int i = 0; i < 1000; ++i) log.Stop();
  EXPECT_LE(log.samples().size(), 256u);
  EXPECT_GE(log.samples().size(), 128u);
  EXPECT_EQ(log.samples().front().counter, first.counter);
  for (size_t i = 1; i < log.samples().size(); ++i) {
    EXPECT_GE(log.samples()[i].counter, log.samples()[i - 1].counter);
  }
}

TEST(ClockLog, TheStartDoesNotWaitForTheFrequency) {
  const ClockSample loaded = SampleClocks();
  ClockLog log;
  log.Start(loaded);
  const int64_t waited_ns = log.samples().front().monotonic_raw_ns - loaded.monotonic_raw_ns;
  EXPECT_LT(waited_ns, 15'000'000);
  if (!hot_state.clock_is_counter) return;
  EXPECT_FALSE(log.IsCertain());
  EXPECT_TRUE(log.WaitUntilCertain());
  EXPECT_TRUE(log.IsCertain());
  EXPECT_FALSE(log.WaitUntilCertain());
  const double soon = log.frequency_mhz();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  log.Stop();
  EXPECT_NEAR(soon / log.frequency_mhz(), 1, 1e-4);
}

TEST(ClockLog, TicksOnlyWhenItIsTime) {
  ClockLog log;
  log.Start(ClockSample());
  EXPECT_FALSE(log.Tick());
  EXPECT_EQ(log.samples().size(), 1u);
}

}  // namespace
}  // namespace steplens::collect
