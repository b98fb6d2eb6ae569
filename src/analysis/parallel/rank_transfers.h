#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// A send and the receive it meets, on ranks of the job; times are those of their starts, epoch ns,
// each on the clock of its rank.
struct RankTransfer {
  int64_t from_rank = 0;
  int64_t from_ns = 0;
  int64_t to_rank = 0;
  int64_t to_ns = 0;
  std::string id;  // "<group>_<source>_<destination>_<n>"
};

// By id. Sends whose other end was not captured are left out.
Result<std::vector<RankTransfer>> FindRankTransfers(const store::Job& job);

}  // namespace steplens::analysis
