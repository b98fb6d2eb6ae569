#pragma once

#include <cstddef>

#include "base/status.h"
#include "cli/command.h"
#include "cli/compare_options.h"
#include "store/trace_store.h"

namespace steplens::cli {

// One side of a comparison of two ranks.
struct OpenedSide {
  store::Job job;         // the rank that is compared, and others if the report asks for them
  size_t rank_index = 0;  // of the rank that is compared
  size_t found = 0;       // ranks below the path

  const store::TraceStore& rank() const { return job.ranks[rank_index]; }
};
struct OpenedSides {
  OpenedSide base;
  OpenedSide comparison;
};

// Opens the two ranks that are compared: those of the lowest number that both sides have and that
// can be read, else the first of each. Of a folder of many ranks only that one is read, so that
// memory does not grow with the job; all are read for the html report of a job of at most
// kMostRanksOfReport, which divides communication into wait and transfer by the other ranks.
inline constexpr size_t kMostRanksOfReport = 16;
Result<OpenedSides> OpenSides(const Arguments& arguments, const CompareRequest& request);

}  // namespace steplens::cli
