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

RawClock::RawClock(const ClockFacts& facts)
    : is_counter_(facts.is_counter), wall_minus_monotonic_ns_(facts.wall_minus_monotonic_ns) {
  const std::vector<ClockFacts::Sample> samples = Ascending(facts.samples);
  const bool is_long_enough =
      samples.size() >= 2 && SubtractSaturating(samples.back().monotonic_ns,
                                                samples.front().monotonic_ns) >= kShortestSpanNs;
  if (!is_long_enough) {
    const int64_t frequency_hz =
        facts.frequency_hz > 0 ? facts.frequency_hz : ClockFacts{}.frequency_hz;
    const ClockFacts::Sample start{facts.start_counter, facts.start_monotonic_ns, 0};
    before_ = LineFrom(start, {0, 0, 0}, {frequency_hz, kNsPerSecond, 0});
    return;
  }
  // Outside the samples the slope of all of them is the best guess.
  before_ = LineFrom(samples.front(), samples.front(), samples.back());
  for (size_t i = 0; i + 1 < samples.size(); ++i)
    lines_.push_back(LineFrom(samples[i], samples[i], samples[i + 1]));
  lines_.push_back(LineFrom(samples.back(), samples.front(), samples.back()));
}

RawClock::Line RawClock::LineFrom(const ClockFacts::Sample& at, const ClockFacts::Sample& from,
                                  const ClockFacts::Sample& to) {
  Line line{at.counter, at.monotonic_ns, SubtractSaturating(to.monotonic_ns, from.monotonic_ns),
            SubtractSaturating(to.counter, from.counter)};
  line.ratio = static_cast<double>(line.numerator) / static_cast<double>(line.denominator);
  return line;
}

// ticks * numerator / denominator, cut towards 0; held at the ends of int64.
int64_t RawClock::Line::Ns(int64_t raw) const {
  const int64_t ticks = SubtractSaturating(raw, first_tick);
  // Doubles tell the quotient but for one, up to 2^50; the remainder, which is small even where the
  // products are not, tells the rest. A division of 128 bits would be what reading hangs on.
  constexpr double kLargest = 0x1p50;
  constexpr int64_t kLargestDenominator = int64_t{1} << 61;
  const double guess = static_cast<double>(ticks) * ratio;
  if (ticks >= 0 && guess < kLargest && denominator < kLargestDenominator) [[likely]] {
    auto quotient = static_cast<int64_t>(guess);
    const auto rest =
        static_cast<int64_t>(static_cast<uint64_t>(ticks) * static_cast<uint64_t>(numerator) -
                             static_cast<uint64_t>(quotient) * static_cast<uint64_t>(denominator));
    if (rest < 0) --quotient;
    if (rest >= denominator) ++quotient;
    return AddSaturating(first_ns, quotient);
  }
  return AddSaturating(first_ns, Clamp(static_cast<__int128>(ticks) * numerator / denominator));
}

const RawClock::Line& RawClock::LineOf(int64_t raw) {
  if (lines_.empty() || raw < lines_.front().first_tick) return before_;
  const bool is_on_last = raw >= lines_[last_].first_tick &&
                          (last_ + 1 == lines_.size() || raw < lines_[last_ + 1].first_tick);
  if (!is_on_last) {
    const auto after =
        std::upper_bound(lines_.begin(), lines_.end(), raw,
                         [](int64_t value, const Line& line) { return value < line.first_tick; });
    last_ = static_cast<size_t>(after - lines_.begin()) - 1;
  }
  return lines_[last_];
}

int64_t RawClock::ToUnixNs(int64_t raw) {
  return AddSaturating(is_counter_ ? LineOf(raw).Ns(raw) : raw, wall_minus_monotonic_ns_);
}

}  // namespace steplens::readers
