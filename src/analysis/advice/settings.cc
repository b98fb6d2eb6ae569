#include "analysis/advice/settings.h"

namespace steplens::analysis {

const std::vector<ThresholdSpec>& ThresholdSpecs() {
  static const std::vector<ThresholdSpec> specs = {
#define SL_LIST_THRESHOLD_(rule, name, value, meaning) \
  {#rule, #name, value, meaning, &RuleThresholds::rule##_##name},
      SL_RULE_THRESHOLDS(SL_LIST_THRESHOLD_)
#undef SL_LIST_THRESHOLD_
  };
  return specs;
}

}  // namespace steplens::analysis
