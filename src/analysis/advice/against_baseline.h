#pragma once

#include <string>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/facts/rank_view.h"
#include "base/status.h"

namespace steplens::analysis {

// Kernels by type and host operators by name of one rank against another: a finding for each of the
// two in which the first one loses time, with all rows as its details, the largest loss first. The
// tables are given even where nothing was lost.
struct RankComparison {
  std::vector<Finding> findings;
  std::vector<table::Table> tables;
};
// One of the two, by the name that it has in sentences.
struct ComparedRank {
  const RankView& view;
  std::string name;
};
enum class ComparedWork : uint8_t { kKernels, kApis, kBoth };
Result<RankComparison> CompareRankWith(const ComparedRank& target, const ComparedRank& baseline,
                                       ComparedWork work);

}  // namespace steplens::analysis
