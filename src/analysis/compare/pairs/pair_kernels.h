#pragma once

#include <string>
#include <vector>

#include "analysis/compare/pairs/compare_pair.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis::pairs {

// The kernels of a side, in order of begin.
struct SideKernels {
  const store::TraceStore* store = nullptr;
  int64_t origin_ns = 0;
  std::vector<uint32_t> rows;

  int64_t begin_ns() const {
    return rows.empty() ? 0 : store->kernels.begin_ns[rows.front()].value();
  }
};

SideKernels KernelsOfSide(const store::TraceStore& store, const CompareSide& side);

// `sides`: where each begins on the timeline and how many kernels it has.
table::Table SidesTable(const SideKernels& a, const SideKernels& b, const CompareSide& side_a,
                        const CompareSide& side_b);

// `matched`: kernels of both sides, the k-th of a name with the k-th of that name; starts count
// from the first kernel of their side. At most `limit` of each side, the longest; `is_cut` says
// that there are more.
table::Table MatchedTable(const SideKernels& a, const SideKernels& b, size_t limit, bool& is_cut);

// `histogram`: how often kernels of a type or name, on a core, took how long on each side.
table::Table HistogramTable(const SideKernels& a, const SideKernels& b, const std::string& key,
                            const std::string& core);

}  // namespace steplens::analysis::pairs
