#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/compare/runs/compare_runs.h"
#include "analysis/compare/runs/gate_rule.h"

namespace steplens::analysis::runs {

enum class RuleState : uint8_t {
  kPassed,
  kBreached,       // the limit is passed, and not by noise
  kUndecided,      // the limit is passed, but there are not enough steps to tell noise
  kNothingMatched  // neither run has what the rule names
};
std::string_view StateName(RuleState state);  // "passed", "breached", ...

struct RuleOutcome {
  GateRule rule;
  RuleState state = RuleState::kPassed;
  std::vector<Difference> found;  // breaches, else what is undecided; largest change first
  size_t matched = 0;             // differences that were looked at
  size_t steps_needed = 0;        // on each side, to decide all rules
  // What came closest to the limit, for reports of rules that passed; empty if nothing matched.
  std::vector<Difference> closest;

  // A sentence for each of `found`, or one that says why there is none.
  std::vector<std::string> Lines() const;
};

struct GateOutcome {
  std::vector<RuleOutcome> rules;
  bool is_breached() const;
  bool Has(RuleState state) const;
};

// Applies the rules. A rule is breached if the change is beyond its limit and the steps differ by
// more than noise; p-values are corrected for all differences that any rule looks at (Holm), so
// that options.level bounds the chance that a comparison of unchanged runs raises the gate at all.
GateOutcome ApplyGate(const RunSummary& base, const RunSummary& run,
                      std::span<const GateRule> rules, const NoiseOptions& options = {});
// The same for differences that are known (AllDifferences).
GateOutcome ApplyGate(std::vector<Difference> all, std::span<const GateRule> rules,
                      const NoiseOptions& options);

}  // namespace steplens::analysis::runs
