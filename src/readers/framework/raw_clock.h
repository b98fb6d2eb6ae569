#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "store/issues.h"

namespace steplens::readers {

// What a capture says about its clocks.
struct ClockFacts {
  // One moment on the three clocks; extra samples of our own recorder (steplens_clock).
  struct Sample {
    int64_t counter = 0;
    int64_t monotonic_ns = 0;
    int64_t wall_ns = 0;
  };

  bool is_counter = false;             // raw values are ticks of the CPU, else CLOCK_MONOTONIC_RAW
  int64_t frequency_hz = 100'000'000;  // of the ticks
  int64_t start_counter = 0;
  int64_t start_monotonic_ns = 0;
  int64_t wall_minus_monotonic_ns = 0;
  bool knows_wall = false;  // false: times are since the machine's start, not since the epoch
  std::vector<Sample> samples{};
};

// Raw times of FRAMEWORK files to nanoseconds since the epoch:
//   monotonic = start_monotonic + (raw - start_counter) * 10^9 / frequency, cut towards 0
//   unix      = monotonic + (wall - monotonic)
// With two or more usable samples the ticks are interpolated between them instead, so that neither
// a frequency that is known badly nor its drift shows; a step of the wall clock never does, since
// one difference serves the whole capture. Integers only. Remembers the last place, so a thread
// needs a copy of its own.
class RawClock {
 public:
  RawClock() : RawClock(ClockFacts{}) {}
  explicit RawClock(const ClockFacts& facts);

  int64_t ToUnixNs(int64_t raw);

 private:
  // Ticks to nanoseconds from one moment on: numerator / denominator each.
  struct Line {
    int64_t first_tick = 0;
    int64_t first_ns = 0;
    int64_t numerator = 1;
    int64_t denominator = 1;  // more than 0
    double ratio = 1;

    int64_t Ns(int64_t raw) const;
  };
  static Line LineFrom(const ClockFacts::Sample& at, const ClockFacts::Sample& from,
                       const ClockFacts::Sample& to);
  const Line& LineOf(int64_t raw);

  bool is_counter_ = false;
  int64_t wall_minus_monotonic_ns_ = 0;
  Line before_;              // of ticks before the first line
  std::vector<Line> lines_;  // ascending
  size_t last_ = 0;          // the line used last
};

// Reads what the capture's folder says: profiler_info*.json and, where the device was recorded,
// PROF_*/host. A file that is missing or damaged is no error: the next source serves, and what is
// not known at all is counted in `issues`.
ClockFacts ReadClockFacts(const std::string& folder, store::IssueLog& issues);

}  // namespace steplens::readers
