#pragma once

#include <cstddef>
#include <span>

namespace steplens::analysis::runs {

// Wilcoxon's rank-sum test, two-sided: how likely two samples of one distribution are to differ in
// their ranks at least as much as these do. Ties get their middle rank, and the distribution is
// that of the ranks at hand: exact for up to kExactValues values on both sides together, the normal
// approximation with corrections for ties and continuity beyond. 1 if a side is empty.
inline constexpr size_t kExactValues = 40;
double RankSumP(std::span<const double> a, std::span<const double> b);

// The smallest p that samples of these sizes can have: each value of one side above all of the
// other. A test with fewer steps than it takes for that to be small cannot tell anything.
double SmallestP(size_t a_count, size_t b_count);

// The upper tail of the standard normal distribution, and the place where it is `p`.
double NormalTail(double z);
double NormalTailPlace(double p);

// The upper tail of Student's distribution with so many degrees of freedom, 1 at least. `t` is not
// negative.
double StudentTail(double t, int degrees);

}  // namespace steplens::analysis::runs
