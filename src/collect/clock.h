#pragma once

#include <cstdint>
#include <ctime>
#include <vector>

#include "collect/hot_state.h"
#include "steplens/collect.h"

namespace steplens::collect {

// Decides on the raw clock, once, before any other thread can see it (hot_state.clock_is_counter):
// the counter if the CPU promises that it is invariant and the kernel
// trusts it, too. STEPLENS_CLOCK=monotonic asks for CLOCK_MONOTONIC_RAW.
void DetectClock();

inline int64_t ClockNs(clockid_t id) {
  timespec time;
  clock_gettime(id, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The raw clock: counter ticks or CLOCK_MONOTONIC_RAW nanoseconds.
inline uint64_t Now() {
  if (__builtin_expect(hot_state.clock_is_counter, 1)) return sl_read_counter();
  return static_cast<uint64_t>(ClockNs(CLOCK_MONOTONIC_RAW));
}

// Three clocks at the same moment, within some tens of nanoseconds.
struct ClockSample {
  uint64_t counter = 0;
  int64_t monotonic_raw_ns = 0;
  int64_t wall_ns = 0;
};

ClockSample SampleClocks();

// Frequency of the raw clock between two samples; 1000 for CLOCK_MONOTONIC_RAW.
double FrequencyMhz(const ClockSample& first, const ClockSample& last);

// The samples of a capture: at the start, after 1, 2, 4, ... 64 seconds, then every 64 seconds, and
// at the end; at most 256, beyond which every other one in the middle is left out. One more comes
// soon after the start where the frequency is not certain then.
class ClockLog {
 public:
  // `baseline` is an earlier sample of the same process: it makes the first frequency good. Does
  // not wait: a training does.
  void Start(const ClockSample& baseline);
  // Whether the frequency is as good as it has to be: 20 ms lie between two of the samples.
  bool IsCertain() const;
  // True if that took a sample.
  bool WaitUntilCertain();
  // Takes a sample if it is time to. True if it did.
  bool Tick();
  void Stop();
  double frequency_mhz() const;
  const std::vector<ClockSample>& samples() const { return samples_; }

 private:
  void Add(const ClockSample& sample);

  ClockSample baseline_;
  std::vector<ClockSample> samples_;
  int64_t next_ns_ = 0;
  int64_t period_ns_ = 0;
};

}  // namespace steplens::collect
