#include "readers/framework/raw_clock.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "base/testing/scratch_folder.h"
#include "readers/ascend_db/test_db.h"

namespace steplens::readers {
namespace {

TEST(RawClock, TakesNanosecondsAsTheyAre) {
  RawClock clock(ClockFacts{.wall_minus_monotonic_ns = 1000});
  EXPECT_EQ(clock.ToUnixNs(5), 1005);
}

TEST(RawClock, ScalesTicksExactly) {
  // 100 MHz: ten nanoseconds a tick.
  RawClock clock(ClockFacts{.is_counter = true,
                            .start_counter = 17238197612056,
                            .start_monotonic_ns = 172163581670080,
                            .wall_minus_monotonic_ns = 1'000'000});
  EXPECT_EQ(clock.ToUnixNs(17238197612057), 172163581670090 + 1'000'000);
  EXPECT_EQ(clock.ToUnixNs(17238197612055), 172163581670070 + 1'000'000);
}

TEST(RawClock, CutsTowardsZero) {
  RawClock clock(ClockFacts{.is_counter = true, .frequency_hz = 3'000'000'000});
  EXPECT_EQ(clock.ToUnixNs(2), 0);
  EXPECT_EQ(clock.ToUnixNs(3), 1);
  EXPECT_EQ(clock.ToUnixNs(-2), 0);
  EXPECT_EQ(clock.ToUnixNs(-3), -1);
}

TEST(RawClock, HoldsProductsBeyond64Bits) {
  RawClock clock(ClockFacts{.is_counter = true, .frequency_hz = 2'500'000'000});
  // A hundred days of ticks.
  EXPECT_EQ(clock.ToUnixNs(int64_t{86400} * 100 * 2'500'000'000),
            int64_t{86400} * 100 * 1000000000);
}

TEST(RawClock, InterpolatesBetweenSamples) {
  // The file says 1 GHz; the truth was 0.5 GHz first and 2 GHz later.
  RawClock clock(
      ClockFacts{.is_counter = true,
                 .frequency_hz = 1'000'000'000,
                 .samples = {{0, 0, 0}, {1'000'000, 2'000'000, 0}, {3'000'000, 3'000'000, 0}}});
  EXPECT_EQ(clock.ToUnixNs(500'000), 1'000'000);
  EXPECT_EQ(clock.ToUnixNs(2'000'000), 2'500'000);
  EXPECT_EQ(clock.ToUnixNs(1'000'000), 2'000'000);
  EXPECT_EQ(clock.ToUnixNs(3'000'003), 3'000'003);  // beyond: the slope of all, 1
  EXPECT_EQ(clock.ToUnixNs(-4), -4);
}

TEST(RawClock, IsExactWhereDoublesAreNot) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto hz = static_cast<int64_t>(1 + random() % 5'000'000'000);
    const auto ticks = static_cast<int64_t>(random() >> (2 + random() % 40));
    ClockFacts facts;
    facts.is_counter = true;
    facts.frequency_hz = hz;
    const __int128 exact = static_cast<__int128>(ticks) * 1'000'000'000 / hz;
    if (exact > std::numeric_limits<int64_t>::max()) continue;
    ASSERT_EQ(RawClock(facts).ToUnixNs(ticks), static_cast<int64_t>(exact)) << ticks << " " << hz;
  }
}

TEST(RawClock, IgnoresSamplesThatGoBackOrAreTooNear) {
  RawClock clock(ClockFacts{.is_counter = true,
                            .frequency_hz = 1'000'000'000,
                            .samples = {{0, 0, 0}, {-5, 7, 0}, {10, 1000, 0}}});
  EXPECT_EQ(clock.ToUnixNs(100), 100);
}

TEST(RawClock, NeverOverflows) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  RawClock clock(ClockFacts{.is_counter = true,
                            .frequency_hz = 1,
                            .start_counter = -kMost,
                            .wall_minus_monotonic_ns = kMost});
  EXPECT_EQ(clock.ToUnixNs(kMost), kMost);
  clock.ToUnixNs(std::numeric_limits<int64_t>::min());
}

ClockFacts Facts(ScratchFolder& directory, const std::string& info, uint64_t* unknown = nullptr) {
  std::ofstream(directory / "profiler_info_0.json") << info;
  store::IssueLog issues;
  const std::string folder = directory.path();
  ClockFacts facts = ReadClockFacts(folder, issues);
  if (unknown != nullptr) *unknown = issues.entry(store::IssueKind::kClockUnknown).count;
  return facts;
}

TEST(ReadClockFacts, TakesStartAndEnd) {
  ScratchFolder directory;
  const ClockFacts facts =
      Facts(directory, R"({"start_info": {"syscnt_enable": true, "freq": 2893.2,
      "start_cnt": 7, "start_monotonic": 8}, "end_info": {"collectionTimeEnd": 100, "MonotonicTimeEnd": 40}})");
  EXPECT_TRUE(facts.is_counter);
  EXPECT_EQ(facts.frequency_hz, 2'893'200'000);
  EXPECT_EQ(facts.start_counter, 7);
  EXPECT_EQ(facts.start_monotonic_ns, 8);
  EXPECT_EQ(facts.wall_minus_monotonic_ns, 60);
}

TEST(ReadClockFacts, UsesSamplesOfAKilledJob) {
  ScratchFolder directory;
  const ClockFacts facts = Facts(directory, R"({"start_info": {"syscnt_enable": true},
      "steplens_clock": [[1, 2, 1002], [5, 6, 1007], ["bad"]]})");
  EXPECT_EQ(facts.samples.size(), 2u);
  EXPECT_EQ(facts.wall_minus_monotonic_ns, 1000);
  EXPECT_TRUE(facts.knows_wall);
}

TEST(ReadClockFacts, KeepsTheFirstWallClockIfItWasSetMeanwhile) {
  ScratchFolder directory;
  const ClockFacts facts = Facts(directory, R"({"steplens_clock": [[1, 0, 1000]],
      "end_info": {"collectionTimeEnd": 9000000000, "MonotonicTimeEnd": 500}})");
  EXPECT_EQ(facts.wall_minus_monotonic_ns, 1000);
}

TEST(ReadClockFacts, PrefersTheDevicesOwnClocks) {
  ScratchFolder directory;
  const std::filesystem::path host = directory / "PROF_1_2_A/host";
  std::filesystem::create_directories(host);
  std::ofstream(host / "info.json") << R"({"CPU": [{"Frequency": "50.000000"}]})";
  std::ofstream(host / "host_start.log") << "[Host]\ncntvct: 11\nclock_monotonic_raw: 22\n";
  std::ofstream(host / "start_info")
      << R"({"collectionTimeBegin": "1000.5", "clockMonotonicRaw": "500"})";
  const ClockFacts facts = Facts(directory, R"({"start_info": {"freq": 100, "start_cnt": 1},
      "end_info": {"collectionTimeEnd": 1, "MonotonicTimeEnd": 1}})");
  EXPECT_EQ(facts.frequency_hz, 50'000'000);
  EXPECT_EQ(facts.start_counter, 11);
  EXPECT_EQ(facts.start_monotonic_ns, 22);
  EXPECT_EQ(facts.wall_minus_monotonic_ns, 1'000'500 - 500);
}

TEST(ReadClockFacts, CountsAClockThatNothingExplains) {
  ScratchFolder directory;
  uint64_t unknown = 0;
  const ClockFacts facts = Facts(directory, "{ damaged", &unknown);
  EXPECT_FALSE(facts.knows_wall);
  EXPECT_EQ(unknown, 1u);
}

}  // namespace
}  // namespace steplens::readers
