#include "analysis/compare/runs/rank_sum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

namespace steplens::analysis::runs {
namespace {

// Ranks of both sides together, doubled so that middle ranks are whole numbers.
struct DoubledRanks {
  std::vector<uint32_t> all;  // ascending by value
  uint64_t sum_of_a = 0;
  double ties = 0;  // sum of t^3 - t over runs of equal values
};

DoubledRanks RankBoth(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> values;
  for (const double value : a) values.emplace_back(value, true);
  for (const double value : b) values.emplace_back(value, false);
  std::sort(values.begin(), values.end());
  DoubledRanks out;
  for (size_t begin = 0; begin < values.size();) {
    size_t end = begin;
    while (end < values.size() && values[end].first == values[begin].first) ++end;
    const auto doubled = static_cast<uint32_t>(begin + 1 + end);  // (first + last) / 2, doubled
    for (size_t i = begin; i < end; ++i) {
      out.all.push_back(doubled);
      if (values[i].second) out.sum_of_a += doubled;
    }
    const auto run = static_cast<double>(end - begin);
    out.ties += run * run * run - run;
    begin = end;
  }
  return out;
}

// Of all ways to choose `count` of the ranks, the share whose sum is at least as far from the
// expected one as `sum` is.
double ExactP(const DoubledRanks& ranks, size_t count) {
  const uint64_t total = std::accumulate(ranks.all.begin(), ranks.all.end(), uint64_t{0});
  // ways[k][s]: ways to choose k ranks with the sum s. Doubles hold C(40, 20) exactly.
  const size_t width = total + 1;
  std::vector<double> ways((count + 1) * width, 0.0);
  ways[0] = 1;
  size_t seen = 0;
  uint64_t highest = 0;
  for (const uint32_t rank : ranks.all) {
    highest += rank;
    for (size_t k = std::min(++seen, count); k > 0; --k) {
      double* const to = ways.data() + k * width;
      const double* const from = ways.data() + (k - 1) * width;
      for (size_t s = highest; s >= rank; --s) to[s] += from[s - rank];
    }
  }
  // The expected sum is count / all of the total; compared times `all`, in whole numbers.
  const auto all = static_cast<int64_t>(ranks.all.size());
  const int64_t middle = static_cast<int64_t>(count) * static_cast<int64_t>(total);
  const int64_t far = std::abs(static_cast<int64_t>(ranks.sum_of_a) * all - middle);
  double beyond = 0;
  double every = 0;
  for (size_t s = 0; s < width; ++s) {
    const double here = ways[count * width + s];
    every += here;
    if (std::abs(static_cast<int64_t>(s) * all - middle) >= far) beyond += here;
  }
  return std::min(1.0, beyond / every);
}

double ApproximateP(const DoubledRanks& ranks, double a_count, double b_count) {
  const double all = a_count + b_count;
  const double distance =
      std::fabs(static_cast<double>(ranks.sum_of_a) / 2 - a_count * (all + 1) / 2);
  const double variance = a_count * b_count / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  if (variance <= 0) return 1;
  return std::min(1.0, 2 * NormalTail(std::max(0.0, distance - 0.5) / std::sqrt(variance)));
}

}  // namespace

double NormalTail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

double NormalTailPlace(double p) {
  double low = -40;
  double high = 40;
  // The tail falls all the way: halving the place 80 times leaves nothing of 80 to search.
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (NormalTail(middle) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double StudentTail(double t, int degrees) {
  // The finite series for whole degrees of freedom, in the angle theta = atan(t / sqrt(degrees)).
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double square = std::cos(theta) * std::cos(theta);
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? std::cos(theta) : 1;
  double sum = 0;
  for (int k = is_odd ? 3 : 2; k <= degrees; k += 2) {
    sum += term;
    term *= square * static_cast<double>(k - 1) / static_cast<double>(k);
  }
  const double inside =
      is_odd ? 2 / std::numbers::pi * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
  return std::max(0.0, (1 - inside) / 2);
}

double RankSumP(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  const DoubledRanks ranks = RankBoth(a, b);
  if (ranks.all.front() == ranks.all.back()) return 1;  // all the same
  if (ranks.all.size() <= kExactValues) return ExactP(ranks, a.size());
  return ApproximateP(ranks, static_cast<double>(a.size()), static_cast<double>(b.size()));
}

double SmallestP(size_t a_count, size_t b_count) {
  if (a_count == 0 || b_count == 0) return 1;
  // 2 / C(a + b, a), in pieces that stay within range.
  double p = 2;
  for (size_t i = 1; i <= a_count; ++i)
    p *= static_cast<double>(i) / static_cast<double>(b_count + i);
  return std::min(1.0, p);
}

}  // namespace steplens::analysis::runs
