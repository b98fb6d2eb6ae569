#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "store/trace_store.h"

namespace steplens::analysis {

// What a device can do at most, without sparsity: FLOP/s by the type of the inputs, and bytes per
// second of its memory. NaN where the device has no unit for a type.
struct DevicePeaks {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double fp16 = kNone;  // matrix units, also BF16
  double fp8 = kNone;   // matrix units, also INT8
  double tf32 = kNone;  // matrix units, FP32 inputs rounded to TF32
  double fp32 = kNone;
  double fp64 = kNone;
  double bytes_per_s = kNone;

  // The rate for inputs of a type ("c10::BFloat16"). An operator on FP32 that was faster than FP32
  // can be used TF32. What matrix units cannot do runs at the rate of FP32.
  double FlopsPerSecond(std::string_view type, bool is_matrix, double achieved) const;
};

// By the name that Kineto writes of a device, e.g. "NVIDIA A100-SXM4-80GB"; nothing for devices
// that are not in the list.
std::optional<DevicePeaks> PeaksOfDevice(std::string_view name, int64_t memory_bytes);

// Of the device that the rank's kernels ran on, by its deviceProperties.
std::optional<DevicePeaks> FindDevicePeaks(const store::TraceStore& store);

}  // namespace steplens::analysis
