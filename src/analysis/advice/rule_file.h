#pragma once

#include <string_view>

#include "analysis/advice/settings.h"

namespace steplens::analysis {

// Adds what a rule file says to the settings. YAML or JSON:
//   memory_calls: {enabled: true, thresholds: {total_us: 5000}}
//   affinity: [{words: "softmax mul? add", by: my_softmax, note: fp16 only}]
//   fusion: [{words: "Cast Mul Cast", by: MyCastMul}]
//   chips: {Ascend910B: {ai_core_num: 24, aiv_num: 48, aic_frequency: 1800}}
// The reference's own tables are taken as well: a list of affinity rules by version
// (timeline_fusion_ops.yaml), of which the newest version counts, and GraphFusion and UBFusion.
// An error names file and line, what was found and what was expected; then nothing was changed.
Status AddRuleFile(std::string_view text, std::string_view name, RuleSettings& settings);

}  // namespace steplens::analysis
