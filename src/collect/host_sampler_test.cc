#include "collect/host_sampler.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "collect/test_capture.h"

namespace steplens::collect {
namespace {

constexpr uint32_t kAll = SL_HOST_CPU | SL_HOST_MEMORY | SL_HOST_DISK | SL_HOST_NETWORK;
constexpr int64_t kSecond = 1'000'000'000;

void Write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

std::map<std::string, double> Sample(HostSampler& sampler, int64_t now_ns) {
  std::map<std::string, double> values;
  sampler.Sample(
      now_ns, [&](std::string_view series, double value) { values[std::string(series)] = value; });
  return values;
}

TEST(HostSampler, ComputesSharesAndRatesFromTwoSamples) {
  const ScratchFolder root;
  Write(root / "proc/stat",
        "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 50 0 50 350 50 0 0 0\ncpu1 50 0 50 350 50 0 0 "
        "0\nintr 1\n");
  Write(root / "proc/meminfo", "MemTotal:  1000 kB\nMemFree: 10 kB\nMemAvailable: 250 kB\n");
  Write(root / "proc/self/statm", "5000 2000 100 1 0 1 0\n");
  Write(root / "proc/diskstats",
        "   8 0 sda 1 0 1000 0 1 0 2000 0 0 100 0\n   8 1 sda1 1 0 999 0 1 0 999 0 0 9 0\n 7 0 "
        "loop0 1 0 5 0 0 0 0 0 0 0 0\n");
  Write(root / "proc/net/dev",
        "Inter-|   Receive\n face |bytes\n    lo: 99 0 0 0 0 0 0 0 99 0 0 0 0 0 0 0\n"
        "  eth0: 1000 0 0 0 0 0 0 0 500 0 0 0 0 0 0 0\n");
  Write(root / "sys/class/net/eth0/speed", "8\n");  // 1 MB/s
  HostSampler sampler(kAll, root.path());
  auto values = Sample(sampler, 10 * kSecond);
  EXPECT_EQ(values.size(), 2u) << "shares of time and rates need a second sample";
  EXPECT_DOUBLE_EQ(values["Memory Usage/used"], 75);
  EXPECT_GT(values["Memory Usage/process KB"], 0);

  Write(root / "proc/stat",
        "cpu  140 0 120 730 110 0 0 0 0 0\ncpu0 90 0 70 350 50 0 0 0\ncpu1 50 0 50 380 60 0 0 0\n");
  Write(root / "proc/diskstats", "   8 0 sda 1 0 1004 0 1 0 2008 0 0 600 0\n");
  Write(root / "proc/net/dev", "  eth0:101000 0 0 0 0 0 0 0 200500 0 0 0 0 0 0 0\n");
  values = Sample(sampler, 12 * kSecond);
  EXPECT_DOUBLE_EQ(values["CPU Usage/all"], 60);  // 60 of 100 ticks
  EXPECT_DOUBLE_EQ(values["CPU Usage/0"], 100);
  EXPECT_DOUBLE_EQ(values["CPU Usage/1"], 0);
  EXPECT_DOUBLE_EQ(values["Disk Usage/read B/s"], 4 * 512 / 2.0);
  EXPECT_DOUBLE_EQ(values["Disk Usage/write B/s"], 8 * 512 / 2.0);
  EXPECT_DOUBLE_EQ(values["Disk Usage/busy"], 25);  // 500 ms of 2 s
  EXPECT_DOUBLE_EQ(values["Network Usage/receive B/s"], 50'000);
  EXPECT_DOUBLE_EQ(values["Network Usage/send B/s"], 100'000);
  EXPECT_DOUBLE_EQ(values["Network Usage/usage"], 15);
}

TEST(HostSampler, CountersThatGoBackGiveNoRate) {
  const ScratchFolder root;
  Write(root / "proc/net/dev", "  eth0: 1000 0 0 0 0 0 0 0 500 0 0 0 0 0 0 0\n");
  HostSampler sampler(SL_HOST_NETWORK, root.path());
  Sample(sampler, kSecond);
  Write(root / "proc/net/dev", "  eth0: 10 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n");
  EXPECT_TRUE(Sample(sampler, 2 * kSecond).empty());
}

TEST(HostSampler, MissingAndDamagedSourcesGiveNothing) {
  const ScratchFolder root;
  HostSampler nothing(kAll, root.path());
  EXPECT_TRUE(Sample(nothing, kSecond).empty());
  Write(root / "proc/stat", "cpu x y\n");
  Write(root / "proc/meminfo", "MemTotal:\n");
  Write(root / "proc/diskstats", "8 0\n");
  Write(root / "proc/net/dev", "eth0:\n:::\n");
  HostSampler damaged(kAll, root.path());
  Sample(damaged, kSecond);
  for (const auto& [series, value] : Sample(damaged, 2 * kSecond)) EXPECT_EQ(value, 0) << series;
}

TEST(HostSampler, ReadsThisMachine) {
  HostSampler sampler(SL_HOST_CPU | SL_HOST_MEMORY);
  const auto values = Sample(sampler, kSecond);
  EXPECT_TRUE(values.contains("Memory Usage/used"));
  EXPECT_GT(values.at("Memory Usage/process KB"), 500);
}

}  // namespace
}  // namespace steplens::collect
