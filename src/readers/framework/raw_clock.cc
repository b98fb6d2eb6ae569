#include "readers/framework/raw_clock.h"

#include <algorithm>
#include <limits>

#include "base/saturate.h"

namespace steplens::readers {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
// Samples nearer to each other say less about the frequency than the file does.
constexpr int64_t kShortestSpanNs = 1'000'000;

int64_t Clamp(__int128 value) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (value > kMost) return kMost;
  if (value < -kMost) return -kMost;
  return static_cast<int64_t>(value);
}

// value * numerator / denominator, cut towards 0; held at the ends of int64. denominator > 0.
int64_t Scale(int64_t value, int64_t numerator, int64_t denominator) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(value, numerator, &product)) return product / denominator;
  return Clamp(static_cast<__int128>(value) * numerator / denominator);
}

// Those that come after the one before on both clocks.
std::vector<ClockFacts::Sample> Ascending(const std::vector<ClockFacts::Sample>& samples) {
  std::vector<ClockFacts::Sample> out;
  for (const ClockFacts::Sample& sample : samples) {
    const bool is_later = out.empty() || (sample.counter > out.back().counter &&
                                          sample.monotonic_ns > out.back().monotonic_ns);
    if (is_later) out.push_back(sample);
  }
  return out;
}

}  // namespace

RawClock::RawClock(ClockFacts facts) : facts_(std::move(facts)) {
  facts_.samples = Ascending(facts_.samples);
  if (facts_.frequency_hz <= 0) facts_.frequency_hz = ClockFacts{}.frequency_hz;
  const bool is_long_enough =
      facts_.samples.size() >= 2 &&
      SubtractSaturating(facts_.samples.back().monotonic_ns, facts_.samples.front().monotonic_ns) >=
          kShortestSpanNs;
  if (!is_long_enough) facts_.samples.clear();
}

int64_t RawClock::ToMonotonicNs(int64_t raw) {
  if (!facts_.is_counter) return raw;
  const auto& samples = facts_.samples;
  if (samples.empty()) {
    return AddSaturating(
        facts_.start_monotonic_ns,
        Scale(SubtractSaturating(raw, facts_.start_counter), kNsPerSecond, facts_.frequency_hz));
  }
  const auto line = [raw](const ClockFacts::Sample& at, const ClockFacts::Sample& from,
                          const ClockFacts::Sample& to) {
    return AddSaturating(at.monotonic_ns,
                         Scale(SubtractSaturating(raw, at.counter),
                               SubtractSaturating(to.monotonic_ns, from.monotonic_ns),
                               SubtractSaturating(to.counter, from.counter)));
  };
  // Outside the samples the slope of all of them is the best guess.
  if (raw < samples.front().counter) return line(samples.front(), samples.front(), samples.back());
  if (raw >= samples.back().counter) return line(samples.back(), samples.front(), samples.back());
  if (raw < samples[segment_].counter || raw >= samples[segment_ + 1].counter) {
    const auto after =
        std::upper_bound(samples.begin(), samples.end(), raw,
                         [](int64_t value, const auto& sample) { return value < sample.counter; });
    segment_ = static_cast<size_t>(after - samples.begin()) - 1;
  }
  return line(samples[segment_], samples[segment_], samples[segment_ + 1]);
}

int64_t RawClock::ToUnixNs(int64_t raw) {
  return AddSaturating(ToMonotonicNs(raw), facts_.wall_minus_monotonic_ns);
}

}  // namespace steplens::readers
