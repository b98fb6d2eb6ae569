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
  kNoOther,   // no other device: settings of CANN, be it that nothing ran on its device
};

// Which part of the advisor asks a rule: `advisor all` asks every one.
enum class AdviceDimension : uint8_t { kAll, kComputation, kSchedule };

// What a change may break.
enum class RuleRisk : uint8_t { kNone, kNumerics, kMemory };
std::string_view RiskName(RuleRisk risk);  // "numerics"

// What a rule looks at, as bits: a capture without it leaves the rule blind (blind.h).
enum RuleSight : uint16_t {
  kSeesAnything = 0,
  kSeesSteps = 1,
  kSeesHost = 2,      // operators of the framework
  kSeesCann = 4,      // API calls of CANN
  kSeesStacks = 8,    // call stacks of operators
  kSeesKernels = 16,  // rows of kernels
  kSeesShapes = 32,   // their shapes
  kSeesMetrics = 64,  // their counters
  kSeesComm = 128,    // communication results
  kSeesEnvironment = 256,
};

bool MeetsNeeds(RuleNeeds needs, const RankEvidence& rank);

struct RuleSpec {
  RuleId id;
  std::string_view name;  // "late_rank"
  RuleScope scope;
  RuleNeeds needs;
  // Of rules about a rank. Those about the job are run by Diagnose (job_rules.h).
  std::vector<Finding> (*find)(const RankEvidence& rank) = nullptr;
  AdviceDimension dimension = AdviceDimension::kAll;  // besides `all`
  uint16_t sees = kSeesAnything;                      // RuleSight
  RuleRisk risk = RuleRisk::kNone;
  // Of rules that compare ranks in what the summary recipe does not collect.
  std::vector<Finding> (*compare)(std::span<const RankEvidence> ranks) = nullptr;
};

// The rule's line in the registry.
const RuleSpec& RuleOf(RuleId rule);

// Every rule, in the order of RuleId.
std::span<const RuleSpec> Rules();

// What the rules about a rank find, the largest saving first. Rules whose needs the capture does
// not meet are not asked.
std::vector<Finding> Advise(const RankEvidence& rank);

// What the rules that compare ranks find.
std::vector<Finding> AdviseJob(std::span<const RankEvidence> ranks);

// The largest saving first; what saves nothing that is known comes last, in the order given.
void SortBySaving(std::vector<Finding>& findings);

}  // namespace steplens::analysis
