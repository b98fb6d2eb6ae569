#pragma once

#include "analysis/advice/rank_evidence.h"

namespace steplens::analysis {

// Cores and rated clock of the rank's device: as the capture says (DeviceInfo), else what the
// settings know of its name; zero where nobody knows.
ChipCores ChipOf(const RankEvidence& rank);

}  // namespace steplens::analysis
