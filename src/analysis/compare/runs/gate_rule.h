#pragma once

#include <string>
#include <string_view>

#include "analysis/compare/runs/compare_runs.h"
#include "base/status.h"

namespace steplens::analysis::runs {

// A condition under which a comparison fails: "e2e>3%", "kernel:MatMul*>5%", "memory>200MB".
struct GateRule {
  std::string text;           // as it was written
  std::string target;         // "e2e", "kernel"
  std::string pattern = "*";  // of names, where the target has names; * and ? stand for others
  double limit = 0;           // a share (0.03), ns or bytes
  bool is_share = true;
  Unit unit = Unit::kNs;  // of a limit that is no share

  bool Matches(const Difference& difference) const;
  bool IsPassedBy(const Difference& difference) const;  // the change alone, noise or not
};

// Reads one rule. The error quotes the text and says what was expected.
Result<GateRule> ParseGateRule(std::string_view text);

}  // namespace steplens::analysis::runs
