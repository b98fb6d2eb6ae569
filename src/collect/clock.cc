#include "collect/clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace steplens::collect {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
// The longer the distance, the better the frequency: 20 ms give it to about a millionth.
constexpr int64_t kShortestBaseline = kSecond / 50;
constexpr size_t kMaxSamples = 256;

bool CpuHasInvariantCounter() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0) return false;
  return (d & (1u << 8)) != 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

// A kernel that found the counter to be unreliable has gone over to one of these.
bool KernelDistrustsCounter() {
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                      O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[32] = {};
  const ssize_t size = read(fd, text, sizeof(text) - 1);
  close(fd);
  const std::string_view name(text, size > 0 ? static_cast<size_t>(size) : 0);
  return name.starts_with("hpet") || name.starts_with("acpi_pm") || name.starts_with("jiffies");
}

}  // namespace

void DetectClock() {
  const char* wanted = std::getenv("STEPLENS_CLOCK");
  const bool refused = wanted != nullptr && std::strcmp(wanted, "monotonic") == 0;
  hot_state.clock_is_counter = !refused && CpuHasInvariantCounter() && !KernelDistrustsCounter();
}

ClockSample SampleClocks() {
  ClockSample best;
  uint64_t best_width = UINT64_MAX;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const uint64_t before = Now();
    const int64_t monotonic = ClockNs(CLOCK_MONOTONIC_RAW);
    const uint64_t after = Now();
    const int64_t wall = ClockNs(CLOCK_REALTIME);
    const int64_t monotonic_after = ClockNs(CLOCK_MONOTONIC_RAW);
    const uint64_t width = after - before;
    if (width >= best_width && attempt != 0) continue;
    best_width = width;
    best.monotonic_raw_ns = monotonic;
    best.counter =
        hot_state.clock_is_counter ? before + width / 2 : static_cast<uint64_t>(monotonic);
    best.wall_ns = wall - (monotonic_after - monotonic) / 2;
  }
  return best;
}

double FrequencyMhz(const ClockSample& first, const ClockSample& last) {
  const int64_t elapsed_ns = last.monotonic_raw_ns - first.monotonic_raw_ns;
  if (!hot_state.clock_is_counter || elapsed_ns <= 0) return 1000.0;
  return static_cast<double>(last.counter - first.counter) * 1000.0 /
         static_cast<double>(elapsed_ns);
}

void ClockLog::Start(const ClockSample& baseline) {
  baseline_ = baseline;
  samples_.assign(1, SampleClocks());
  period_ns_ = kSecond / 2;
  next_ns_ = IsCertain() ? samples_[0].monotonic_raw_ns + kSecond
                         : baseline.monotonic_raw_ns + kShortestBaseline;
  if (IsCertain()) period_ns_ = kSecond;
}

bool ClockLog::IsCertain() const {
  return !hot_state.clock_is_counter ||
         samples_.back().monotonic_raw_ns - baseline_.monotonic_raw_ns >= kShortestBaseline;
}

bool ClockLog::WaitUntilCertain() {
  if (IsCertain()) return false;
  const int64_t age = ClockNs(CLOCK_MONOTONIC_RAW) - baseline_.monotonic_raw_ns;
  if (age < kShortestBaseline) {
    const timespec wait = {0, kShortestBaseline - std::max<int64_t>(age, 0)};
    nanosleep(&wait, nullptr);
  }
  return Tick();
}

bool ClockLog::Tick() {
  if (ClockNs(CLOCK_MONOTONIC_RAW) < next_ns_) return false;
  Add(SampleClocks());
  period_ns_ = std::min(period_ns_ * 2, 64 * kSecond);
  next_ns_ = samples_.back().monotonic_raw_ns + period_ns_;
  return true;
}

void ClockLog::Stop() { Add(SampleClocks()); }

void ClockLog::Add(const ClockSample& sample) {
  if (samples_.size() >= kMaxSamples) {
    size_t kept = 1;
    for (size_t i = 2; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
    samples_.resize(kept);
  }
  samples_.push_back(sample);
}

double ClockLog::frequency_mhz() const {
  if (samples_.empty()) return 1000.0;
  const ClockSample& last = samples_.back();
  constexpr int64_t kEnough = kSecond / 10;
  const bool long_enough = last.monotonic_raw_ns - samples_.front().monotonic_raw_ns >= kEnough;
  return FrequencyMhz(long_enough ? samples_.front() : baseline_, last);
}

}  // namespace steplens::collect
