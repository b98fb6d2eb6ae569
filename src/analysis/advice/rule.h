#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/advice/rank_evidence.h"

namespace steplens::analysis {

enum class RuleScope : uint8_t { kRank, kJob };

// What a capture must be for a rule to say something true about it.
enum class RuleNeeds : uint8_t {
  kNothing,
  kAscend,    // its units, kernels and counters
  kTorchNpu,  // the advice names an API of torch_npu
};

struct RuleSpec {
  RuleId id;
  std::string_view name;  // "late_rank"
  RuleScope scope;
  RuleNeeds needs;
  // Of rules about a rank. Those about the job are run by Diagnose (job_rules.h).
  std::vector<Finding> (*find)(const RankEvidence& rank) = nullptr;
};

// Every rule, in the order of RuleId.
std::span<const RuleSpec> Rules();

// What the rules about a rank find, the largest saving first. Rules whose needs the capture does
// not meet are not asked.
std::vector<Finding> Advise(const RankEvidence& rank);

// The largest saving first; what saves nothing that is known comes last, in the order given.
void SortBySaving(std::vector<Finding>& findings);

}  // namespace steplens::analysis
