#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/saturate.h"

// The clocks of a raw capture: counters of host and device, and the time of day.
namespace steplens::readers::prof {

// From `begin_ns` to `end_ns`; never negative, and never too long for its type.
inline int64_t DurationNs(int64_t begin_ns, int64_t end_ns) {
  return std::max<int64_t>(0, SubtractSaturating(end_ns, begin_ns));
}

// A frequency as a whole number of Hz: "49.999001" MHz is 49999001.
inline constexpr int64_t kHzPerMhz = 1'000'000;

// A counter that stood at `count` when the host's monotonic clock stood at `ns`.
class CounterClock {
 public:
  CounterClock() = default;  // the count is ns already
  CounterClock(int64_t anchor_ns, uint64_t anchor_count, int64_t hz);

  // ns of the monotonic clock, rounded down; saturates where the counter is damaged.
  int64_t ToNs(uint64_t count) const;

 private:
  int64_t anchor_ns_ = 0;
  uint64_t anchor_count_ = 0;
  int64_t ns_ = 1;  // the fraction ns_ / counts_, reduced, is the length of a tick
  int64_t counts_ = 1;
};

// What the control files of host/ or device_<n>/ say about clocks.
struct ClockFacts {
  int64_t host_monotonic_ns = 0;  // host_start.log
  uint64_t host_count = 0;
  int64_t host_count_diff = 0;
  std::optional<int64_t> device_monotonic_ns;  // dev_start.log
  std::optional<uint64_t> device_count;
  int64_t host_hz = 0;    // 0: the host's counter is ns
  int64_t device_hz = 0;  // 0: not known
  int64_t begin_us = 0;   // start_info: time of day, and the monotonic clock at that moment
  int64_t begin_monotonic_ns = 0;
  std::optional<int64_t> end_us;  // end_info
};

// All clocks of one side of a capture.
struct SideClock {
  SideClock() = default;
  explicit SideClock(const ClockFacts& facts);

  CounterClock host;          // the host's counter -> monotonic ns
  CounterClock device;        // the device's counter -> monotonic ns
  int64_t utc_offset_ns = 0;  // monotonic ns -> time of day
  int64_t begin_ns = 0;       // the capture, as time of day
  int64_t end_ns = 0;
  int64_t begin_monotonic_ns = 0;
  int64_t start_ns = 0;          // of the device, monotonic: where its relative times begin
  int64_t device_offset_ns = 0;  // the device's monotonic clock -> the host's

  int64_t HostUtc(uint64_t count) const { return Utc(host.ToNs(count)); }
  int64_t DeviceUtc(uint64_t count) const { return Utc(device.ToNs(count)); }
  int64_t Utc(int64_t monotonic_ns) const;
  // Samples of the device: us since its start, ns of its monotonic clock.
  int64_t SinceStartUtc(uint64_t us) const;
  int64_t DeviceMonotonicUtc(uint64_t ns) const;
};

}  // namespace steplens::readers::prof
