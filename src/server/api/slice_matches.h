#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <vector>

#include "server/api/context.h"
#include "server/slice_filter.h"

namespace steplens::server {

// The slices of some lanes that a filter holds for and that touch a window of shown time. Tests of
// names, categories and lanes are made once for each text; a slice costs a look into tables.
// For many threads, each with ranks of its own.
class SliceMatches {
 public:
  struct Window {
    int64_t t0 = std::numeric_limits<int64_t>::min();
    int64_t t1 = std::numeric_limits<int64_t>::max();
  };
  using Visit = std::function<void(const Lane&, uint32_t slice)>;

  // Refers to the filter.
  SliceMatches(const Ask& ask, const SliceFilter& filter, const std::vector<const Lane*>& lanes,
               Window window);

  // Calls `visit` for every match of a rank, in the order of the store, then of derived lanes. An
  // error if arguments would have to be read of more slices than is sensible.
  Status ForEach(size_t slot, const Visit& visit) const;

 private:
  using Truth = SliceFilter::Truth;
  using Field = SliceFilter::Field;
  struct RankTables;

  Truth TruthOfName(const ShownRank& rank, uint32_t name) const;
  RankTables TablesOf(const ShownRank& rank) const;
  Truth TermTruth(const RankTables& tables, const Lane& lane, uint32_t slice, uint32_t t) const;
  bool IsInWindow(const Lane& lane, uint32_t slice) const;
  Result<bool> DecideByArgs(const RankTables& tables, const Lane& lane, uint32_t slice) const;

  const Ask& ask_;
  const SliceFilter& filter_;
  Window window_;
  std::vector<bool> may_;                      // by lane id: whether a slice there can match
  std::vector<std::vector<bool>> name_holds_;  // [term][name id], of terms about names
  std::vector<std::vector<bool>> lane_holds_;  // [term][lane id], of terms about lanes
  mutable std::atomic<size_t> args_read_{0};
};

}  // namespace steplens::server
