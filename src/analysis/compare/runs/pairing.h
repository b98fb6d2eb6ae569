#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/compare/runs/run_summary.h"

namespace steplens::analysis::runs {

// What of two jobs is compared: a rank of each, or the ranks that play one role.
struct RankPair {
  std::string name;       // "rank 3", "rank 0 / 4", "stage 1"
  std::vector<size_t> a;  // places in RunSummary::ranks
  std::vector<size_t> b;
};

enum class PairedBy : uint8_t { kPosition, kNumber, kRole };
std::string_view PairedByName(PairedBy by);  // "parallel position", "rank number", "role"

struct Pairing {
  PairedBy by = PairedBy::kNumber;
  std::vector<RankPair> pairs;
  std::vector<int64_t> only_a;  // ranks without a counterpart
  std::vector<int64_t> only_b;
};

// Ranks meet at the same place of the parallel layout, where both jobs say theirs and it is the
// same layout; else by number, where both have as many ranks, or one each. Jobs of different sizes
// are compared by role: the pipeline stage, where both have as many, else the whole job.
Pairing PairRanks(const RunSummary& a, const RunSummary& b);

}  // namespace steplens::analysis::runs
