#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/compare/runs/gate_rule.h"
#include "analysis/compare/runs/noise.h"
#include "analysis/compare/runs/run_summary.h"
#include "table/table.h"

namespace steplens::analysis::runs {

// How the gate behaves on a run that did not change: two samples of its steps are drawn and
// compared, many times. Every alarm is false. Then a change is planted into one of them, to find
// the smallest that the gate sees.
struct TrialOptions {
  size_t comparisons = 200;
  size_t steps = 0;  // on each side; 0: half of the run's
  // Steps that follow one another and are drawn together, so that what slows several of them down
  // is on one side.
  size_t block = 5;
  uint32_t seed = 1;
};

struct RuleTrial {
  GateRule rule;
  std::string planted;  // what was made slower: the longest that the rule matches; may be empty
  double spread = 0;    // of its steps, as a share of their median
  size_t alarms = 0;    // comparisons in which this rule was breached
  double smallest = 0;  // smallest planted share found in nine of ten comparisons; 0: none was
};

struct GateTrial {
  std::vector<RuleTrial> rules;
  size_t comparisons = 0;
  size_t steps = 0;   // on each side
  size_t alarms = 0;  // comparisons in which any rule was breached
};

// A run with only these of its steps, by their places, ascending.
RunSummary WithSteps(const RunSummary& run, std::span<const size_t> places);

// Makes what the rule is about take longer, or more, by a share; of several names the longest.
// Returns its name; empty if the rule matches nothing that can be planted.
std::string PlantChange(RunSummary& run, const GateRule& rule, double share);

GateTrial TryGate(const RunSummary& run, std::span<const GateRule> rules,
                  const NoiseOptions& noise = {}, const TrialOptions& options = {});

// One row per rule, and one for all of them together.
table::Table TrialTable(const GateTrial& trial);

}  // namespace steplens::analysis::runs
