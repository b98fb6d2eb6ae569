#include "readers/prof/prof_clock.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace steplens::readers::prof {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kNsPerUs = 1000;
// Captures whose end nobody wrote count as half an hour long.
constexpr int64_t kUnfinishedNs = 30 * 60 * kNsPerSecond;

__extension__ using Wide = __int128;

int64_t Narrow(Wide value) {
  constexpr Wide kLeast = std::numeric_limits<int64_t>::min() + 1;  // the smallest means nothing
  constexpr Wide kMost = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(value, kLeast, kMost));
}

Wide FloorDivide(Wide value, Wide by) {
  const Wide quotient = value / by;
  return quotient * by > value ? quotient - 1 : quotient;
}

}  // namespace

CounterClock::CounterClock(int64_t anchor_ns, uint64_t anchor_count, int64_t hz)
    : anchor_ns_(anchor_ns), anchor_count_(anchor_count) {
  const int64_t common = std::gcd(kNsPerSecond, hz);
  ns_ = kNsPerSecond / common;
  counts_ = hz / common;
}

int64_t CounterClock::ToNs(uint64_t count) const {
  const Wide ticks = Wide{count} - Wide{anchor_count_};
  const Wide ns = ticks * ns_;
  return Narrow(Wide{anchor_ns_} + (counts_ == 1 ? ns : FloorDivide(ns, counts_)));
}

SideClock::SideClock(const ClockFacts& facts) {
  int64_t anchor_ns = facts.host_monotonic_ns;
  if (facts.host_hz > 0) {
    anchor_ns =
        Narrow(Wide{anchor_ns} + Wide{facts.host_count_diff} * kNsPerSecond / facts.host_hz);
    // A counter of 1000 MHz counts ns already.
    if (facts.host_hz != 1000 * kHzPerMhz)
      host = CounterClock(anchor_ns, facts.host_count, facts.host_hz);
  }
  if (facts.device_hz > 0)
    device = CounterClock(anchor_ns, facts.device_count.value_or(0), facts.device_hz);
  begin_ns = Narrow(Wide{facts.begin_us} * kNsPerUs);
  begin_monotonic_ns = facts.begin_monotonic_ns;
  utc_offset_ns = Narrow(Wide{begin_ns} - begin_monotonic_ns);
  end_ns = facts.end_us ? Narrow(Wide{*facts.end_us} * kNsPerUs)
                        : Narrow(Wide{begin_ns} + kUnfinishedNs);
  start_ns = anchor_ns;
  device_offset_ns = Narrow(Wide{anchor_ns} - facts.device_monotonic_ns.value_or(0));
}

int64_t SideClock::Utc(int64_t monotonic_ns) const {
  return Narrow(Wide{monotonic_ns} + utc_offset_ns);
}

int64_t SideClock::SinceStartUtc(uint64_t us) const {
  return Narrow(Wide{us} * kNsPerUs + start_ns + utc_offset_ns);
}

int64_t SideClock::DeviceMonotonicUtc(uint64_t ns) const {
  return Narrow(Wide{ns} + device_offset_ns + utc_offset_ns);
}

}  // namespace steplens::readers::prof
