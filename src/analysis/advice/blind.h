#pragma once

#include <string>
#include <vector>

#include "analysis/advice/rule.h"
#include "analysis/facts/rank_view.h"

namespace steplens::analysis {

// Something that no rank of the job has recorded, and the rules that see nothing without it.
struct Blindness {
  std::string missing;             // "shapes"
  std::vector<std::string> rules;  // their names
  Message text;                    // what is missing, whom it blinds, what to record
};

// Once per missing thing; rules that the job's platform rules out anyway are not named.
std::vector<Blindness> BlindRules(const std::vector<RankView>& ranks,
                                  const std::vector<const RankEvidence*>& evidence);

}  // namespace steplens::analysis
