#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace steplens::analysis::runs {

// What a difference between two runs amounts to.
enum class Verdict : uint8_t {
  kRegression,   // larger than noise and than the least effect: more time or memory
  kImprovement,  // the same, less of it
  kWithinNoise,  // steps of unchanged runs differ as much
  kTooFewSteps,  // no difference, however large, could be told from noise
};
std::string_view VerdictName(Verdict verdict);  // "regression", "improvement", "within noise", ...

// How differences are judged. docs/compare_gate.md explains the method.
struct NoiseOptions {
  double level = 0.01;         // the share of comparisons of unchanged runs that may raise an alarm
  double least_change = 0.01;  // smaller changes, as a share of the base, are never reported
};

// The difference between two samples of steps, B - A. In the unit of the values.
struct Shift {
  double a = 0;  // median of each side
  double b = 0;
  double change = 0;  // Hodges-Lehmann: the median of all differences between a step of B and of A
  double low = 0;     // the true change is between these with 95 % confidence, by the same test
  double high = 0;
  double spread = 0;      // of steps of one side around its median, robust; equals the standard
                          // deviation of normally distributed steps
  double p = 1;           // of the rank-sum test; where steps follow one another, not below that of
                          // Student's test with the wider noise
  double smallest_p = 1;  // that so many steps can have
  double inflation = 1;   // by how much correlation between neighbours widens the noise's variance
  size_t a_steps = 0;
  size_t b_steps = 0;
};

// Compares the steps of two runs. Values that are not numbers are left out.
Shift MeasureShift(std::span<const double> a, std::span<const double> b);

// Holm's correction: the p of each test if all of them are made together, in the order given. The
// chance that any alarm is false then stays below the level, however the tests depend on one
// another.
std::vector<double> HolmAdjusted(std::span<const double> p);

// How many steps each side needs so that the largest difference could be told from noise, if so
// many are tested together.
size_t StepsNeeded(size_t tests, const NoiseOptions& options);

// The verdict on one of `tests` differences that are shown together. `adjusted_p` is Holm's;
// `least` is the smallest change worth a report, in the unit of the values.
Verdict Judge(const Shift& shift, double adjusted_p, size_t tests, double least,
              const NoiseOptions& options);

}  // namespace steplens::analysis::runs
