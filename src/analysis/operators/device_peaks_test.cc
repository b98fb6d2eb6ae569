#include "analysis/operators/device_peaks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;

TEST(PeaksOfDevice, GoesByTheWordsOfTheName) {
  EXPECT_EQ(PeaksOfDevice("NVIDIA A100-SXM4-80GB", 79 * kGib)->bytes_per_s, 2039e9);
  EXPECT_EQ(PeaksOfDevice("NVIDIA A100-PG509-200", 39 * kGib)->bytes_per_s, 1555e9);
  EXPECT_EQ(PeaksOfDevice("NVIDIA H100 80GB HBM3", 79 * kGib)->fp16, 989.4e12);
  EXPECT_EQ(PeaksOfDevice("NVIDIA H100 PCIe", 79 * kGib)->fp16, 756.4e12);
  EXPECT_EQ(PeaksOfDevice("AMD Instinct MI250X", 64 * kGib)->fp16, 191.5e12);
  for (const char* unknown : {"", "NVIDIA RTX A4000", "NVIDIA GH200 480GB", "AMD Radeon Graphics"})
    EXPECT_FALSE(PeaksOfDevice(unknown, kGib).has_value()) << unknown;
}

TEST(DevicePeaks, DependOnTheType) {
  const DevicePeaks a100 = *PeaksOfDevice("NVIDIA A100-SXM4-40GB", 39 * kGib);
  EXPECT_EQ(a100.FlopsPerSecond("c10::BFloat16", true, 0), 312e12);
  EXPECT_EQ(a100.FlopsPerSecond("c10::BFloat16", false, 0), 19.5e12);
  EXPECT_EQ(a100.FlopsPerSecond("float", true, 10e12), 19.5e12);
  EXPECT_EQ(a100.FlopsPerSecond("float", true, 100e12), 156e12);  // faster than FP32 can be
  EXPECT_TRUE(std::isnan(a100.FlopsPerSecond("", true, 0)));
}

TEST(FindDevicePeaks, TakesTheDeviceOfTheKernels) {
  StoreBuilder b;
  b.store.meta.Append(
      {b.Text("deviceProperties"),
       b.Text(R"([{"id": 0, "name": "NVIDIA A40"}, {"id": 1, "name": "NVIDIA L40S"}])")});
  EXPECT_EQ(FindDevicePeaks(b.store)->fp16, 149.7e12);
  b.Kernel("gemm", "", "kernel", 0, 10, 1);
  EXPECT_EQ(FindDevicePeaks(b.store)->fp16, 362e12);
  EXPECT_FALSE(FindDevicePeaks(store::TraceStore()).has_value());
}

}  // namespace
}  // namespace steplens::analysis
