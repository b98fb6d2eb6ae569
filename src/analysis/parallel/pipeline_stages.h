#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table/table.h"

namespace steplens::analysis {

// A forward or backward pass of one micro batch on a rank.
struct Pass {
  int64_t rank = 0;
  std::string name;
  bool is_forward = true;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// A send or receive on a rank.
struct P2pSpan {
  int64_t rank = 0;
  bool is_receive = false;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// What follows from the passes of the ranks of one pipeline; docs/metrics.md, "pipeline". Passes
// and spans in any order; times in columns count from origin_ns.
//
// Times between a rank's passes that none covers, each with what the rank did most of it.
table::Table BubbleTable(const std::vector<Pass>& passes, const std::vector<P2pSpan>& p2p,
                         int64_t origin_ns);
// A row a rank, in the order in which their first forward passes begin.
table::Table StageTable(const std::vector<Pass>& passes);
// The 1F1B schedule with passes of median length; empty unless all ranks have as many forward and
// backward passes.
table::Table IdealTable(const std::vector<Pass>& passes, int64_t origin_ns);

}  // namespace steplens::analysis
