#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/compare/sheet.h"
#include "analysis/compare/side.h"

namespace steplens::analysis::compare {

// How often something ran and how long.
struct CommTotals {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t max_ns = 0;
  int64_t min_ns = 0;
  void Add(int64_t ns);
};

// All calls of one kind of collective, and the tasks that carried them out.
struct CollectiveTotals {
  std::string name;  // allreduce, ...
  CommTotals ops;
  struct Task {
    std::string name;
    CommTotals totals;
  };
  std::vector<Task> tasks;  // as they come first
};

std::vector<CollectiveTotals> CollectCollectives(const Side& side, bool compat);

ResultSheet CommunicationSheet(const std::vector<CollectiveTotals>& base,
                               const std::vector<CollectiveTotals>& comparison, bool compat);

}  // namespace steplens::analysis::compare
