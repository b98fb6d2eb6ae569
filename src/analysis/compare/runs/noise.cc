#include "analysis/compare/runs/noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/cluster/summary/robust.h"
#include "analysis/compare/runs/rank_sum.h"

namespace steplens::analysis::runs {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kCaution = 1.5;
constexpr double kStrongest = 0.8;  // correlation of neighbours that is reckoned with
constexpr int kLeastDegrees = 3;

std::vector<double> NumbersOf(std::span<const double> values) {
  std::vector<double> out;
  for (const double value : values) {
    if (std::isfinite(value)) out.push_back(value);
  }
  return out;
}

// Ranks of one side's values in the order of its steps, less their mean.
std::vector<double> CentredRanks(const std::vector<double>& values) {
  std::vector<double> out;
  for (const double value : values) {
    double rank = 0;
    for (const double other : values) rank += other < value ? 1 : other == value ? 0.5 : 0;
    out.push_back(rank - static_cast<double>(values.size()) / 2);
  }
  return out;
}

struct LagSums {
  double products = 0;
  double squares = 0;
};

void AddLag(const std::vector<double>& values, LagSums& sums) {
  const std::vector<double> ranks = CentredRanks(values);
  for (size_t i = 0; i < ranks.size(); ++i) {
    sums.squares += ranks[i] * ranks[i];
    if (i > 0) sums.products += ranks[i] * ranks[i - 1];
  }
}

// By how much the variance of a mean grows because a slow step is followed by another one.
// Neighbours' correlation is measured on ranks, so that one outlier is one value, over both sides;
// the estimate from short series is too low, by about (1 + 3 rho) / n. A short series cannot show
// that its steps know nothing of each other: the largest correlation that it does not rule out
// counts, kCaution standard errors above what was measured.
double Inflation(const std::vector<double>& a, const std::vector<double>& b) {
  LagSums sums;
  AddLag(a, sums);
  AddLag(b, sums);
  const double all = static_cast<double>(a.size() + b.size());
  const double mean_length = all / 2;
  if (sums.squares <= 0 || mean_length <= 4) return 1;
  const double measured = sums.products / sums.squares;
  const double unbiased = (measured + 1 / mean_length) / (1 - 3 / mean_length);
  const double rho = std::min(kStrongest, std::max(0.0, unbiased) + kCaution / std::sqrt(all));
  double inflation = 1;
  double power = 1;
  for (double lag = 1; lag < mean_length; ++lag) {
    power *= rho;
    inflation += 2 * (1 - lag / mean_length) * power;
  }
  return inflation;
}

// All differences between a step of B and one of A, ascending.
std::vector<double> Differences(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out;
  out.reserve(a.size() * b.size());
  for (const double y : b) {
    for (const double x : a) out.push_back(y - x);
  }
  std::sort(out.begin(), out.end());
  return out;
}

double MiddleOf(const std::vector<double>& ascending) {
  const size_t half = ascending.size() / 2;
  return ascending.size() % 2 == 1 ? ascending[half] : (ascending[half - 1] + ascending[half]) / 2;
}

// The differences that the test would not tell from 0 with the confidence wanted lie between two of
// the differences at hand: as many from either end as the normal approximation of the rank sum
// says.
void SetRange(const std::vector<double>& differences, Shift& shift) {
  const auto a = static_cast<double>(shift.a_steps);
  const auto b = static_cast<double>(shift.b_steps);
  const double z = NormalTailPlace((1 - kConfidence) / 2);
  const double distance = z * std::sqrt(shift.inflation * a * b * (a + b + 1) / 12);
  const double from_end = std::max(0.0, std::floor(a * b / 2 - distance));
  const auto place = std::min(static_cast<size_t>(from_end), differences.size() - 1);
  shift.low = differences[place];
  shift.high = differences[differences.size() - 1 - place];
}

// Around the mean; a value far out counts as one at the edge of what is usual.
double SumOfSquares(std::vector<double> values) {
  constexpr double kFarOut = 4;  // robust spreads from the median
  const double median = cluster::Median(values);
  const double most = kFarOut * cluster::RobustSpread(values);
  if (most > 0) {
    for (double& value : values) value = std::clamp(value, median - most, median + most);
  }
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

// Student's test of the change for steps that follow one another: the variance of a side's mean is
// wider by the inflation, that of its steps looks narrower than it is, and all of them are worth as
// many as would know nothing of each other.
double InflatedP(const std::vector<double>& a, const std::vector<double>& b, const Shift& shift) {
  const auto a_count = static_cast<double>(a.size());
  const auto b_count = static_cast<double>(b.size());
  const double length = (a_count + b_count) / 2;
  const double seen = std::max(0.1, 1 - (shift.inflation - 1) / (length - 1));
  const double variance = (SumOfSquares(a) + SumOfSquares(b)) / (a_count + b_count - 2) / seen;
  const double error = std::sqrt(variance * shift.inflation * (1 / a_count + 1 / b_count));
  const int degrees =
      std::max(kLeastDegrees, static_cast<int>((a_count + b_count) / shift.inflation) - 2);
  return error > 0 ? 2 * StudentTail(std::fabs(shift.change) / error, degrees) : 0;
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegression:
      return "regression";
    case Verdict::kImprovement:
      return "improvement";
    case Verdict::kWithinNoise:
      return "within noise";
    case Verdict::kTooFewSteps:
      return "not enough steps";
  }
  return "";
}

Shift MeasureShift(std::span<const double> of_a, std::span<const double> of_b) {
  const std::vector<double> a = NumbersOf(of_a);
  const std::vector<double> b = NumbersOf(of_b);
  Shift shift;
  shift.a_steps = a.size();
  shift.b_steps = b.size();
  shift.a = cluster::Median(a);
  shift.b = cluster::Median(b);
  shift.smallest_p = SmallestP(a.size(), b.size());
  if (a.empty() || b.empty()) {
    shift.change = shift.low = shift.high = shift.b - shift.a;
    return shift;
  }
  const double spread_a = cluster::RobustSpread(a);
  const double spread_b = cluster::RobustSpread(b);
  shift.spread = std::sqrt((spread_a * spread_a + spread_b * spread_b) / 2);
  const std::vector<double> differences = Differences(a, b);
  shift.change = MiddleOf(differences);
  shift.inflation = Inflation(a, b);
  SetRange(differences, shift);
  shift.p = RankSumP(a, b);
  if (shift.inflation > 1) shift.p = std::max(shift.p, InflatedP(a, b, shift));
  return shift;
}

std::vector<double> HolmAdjusted(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return p[x] < p[y]; });
  std::vector<double> out(p.size(), 1.0);
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const double scaled = p[order[i]] * static_cast<double>(p.size() - i);
    largest = std::max(largest, std::min(1.0, scaled));
    out[order[i]] = largest;
  }
  return out;
}

size_t StepsNeeded(size_t tests, const NoiseOptions& options) {
  const auto count = static_cast<double>(std::max<size_t>(tests, 1));
  size_t steps = 2;
  while (steps < 100 && SmallestP(steps, steps) * count > options.level) ++steps;
  return steps;
}

Verdict Judge(const Shift& shift, double adjusted_p, size_t tests, double least,
              const NoiseOptions& options) {
  const double most_tests = static_cast<double>(std::max<size_t>(tests, 1));
  if (adjusted_p <= options.level && std::fabs(shift.change) >= least && shift.change != 0)
    return shift.change > 0 ? Verdict::kRegression : Verdict::kImprovement;
  // A change too small to be reported needs no steps to be called that.
  if (shift.smallest_p * most_tests > options.level && std::fabs(shift.change) >= least &&
      shift.change != 0)
    return Verdict::kTooFewSteps;
  return Verdict::kWithinNoise;
}

}  // namespace steplens::analysis::runs
