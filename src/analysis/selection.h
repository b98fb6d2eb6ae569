#pragma once

#include <cstdint>
#include <optional>

namespace steplens::analysis {

// Which part of a job a table is about. Nothing set means everything.
struct Selection {
  std::optional<int64_t> rank;
  std::optional<int64_t> step;

  bool HasRank(int64_t of_rank) const { return !rank || *rank == of_rank; }
  bool HasStep(int64_t of_step) const { return !step || *step == of_step; }
};

}  // namespace steplens::analysis
