#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/runs/noise.h"
#include "analysis/compare/runs/pairing.h"
#include "analysis/compare/runs/run_summary.h"

namespace steplens::analysis::runs {

// What a difference is about: a part of the step or a kind of row, and two that are derived.
enum class Subject : uint8_t {
  kPart,    // of the step, the mean over ranks; memory among them
  kJitter,  // how far step times are from their median
  kRow,     // a name: kernel, operator, ...
  kRank,    // a rank's own time: all but communication
};

enum class Unit : uint8_t { kNs, kBytes };

// One thing that both runs have, or one of them. B is the run under study, A the one it is compared
// with.
struct Difference {
  Subject subject = Subject::kPart;
  StepPart part = StepPart::kE2e;   // of kPart
  RowKind kind = RowKind::kKernel;  // of kRow
  std::string name;
  Unit unit = Unit::kNs;
  Shift shift;
  // What the change adds to the step of the job on average, with its sign: less than the change of
  // a name that only some ranks have.
  double contribution_ns = 0;
  double a_calls = 0;  // per step and rank; rows only
  double b_calls = 0;
  bool is_only_a = false;
  bool is_only_b = false;
  double adjusted_p = 1;  // among the differences of its list
  Verdict verdict = Verdict::kWithinNoise;

  // The change as a share of A; infinite for what A does not have.
  double relative() const;
  bool calls_changed() const { return a_calls != b_calls; }
  std::string_view Kind() const;  // "part", "kernel", "rank", ...
};

// Two runs against each other. Each list is judged by itself: p-values are corrected for the number
// of its differences.
struct RunComparison {
  Pairing pairing;
  std::vector<Difference> parts;  // e2e, its parts, memory, jitter
  // Of all kinds; each kind is a list. Clear changes first, then other numbers of calls, then the
  // rest; largest contribution first.
  std::vector<Difference> rows;
  std::vector<Difference> ranks;   // of each pair its own time: largest change first
  std::vector<std::string> notes;  // what could not be compared, one sentence each
};

// Names that take less than this share of the step in both runs are not compared: they would only
// raise the number of tests.
inline constexpr double kLeastShare = 0.001;

RunComparison CompareRuns(const RunSummary& a, const RunSummary& b,
                          const NoiseOptions& options = {});

// All differences that a rule of the gate may look at, short names included; without verdicts.
std::vector<Difference> AllDifferences(const RunSummary& a, const RunSummary& b);

}  // namespace steplens::analysis::runs
