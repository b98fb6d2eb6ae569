#pragma once

#include <cstdint>
#include <vector>

#include "analysis/collectives/collective_book.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::server {

// What joins the ranks of a job: the calls of collectives, and sends with their receives. Made once
// for a data set that is ready. Immutable.
class RankLinks {
 public:
  static Result<RankLinks> Find(const store::Job& job);

  // A row of comm_ops of a rank of the job.
  struct End {
    uint32_t rank_index = 0;
    uint32_t row = 0;
  };
  struct Transfer {
    End from;  // the send
    End to;    // the receive
  };
  const analysis::CollectiveBook& collectives() const { return collectives_; }
  const std::vector<Transfer>& transfers() const { return transfers_; }

 private:
  explicit RankLinks(const store::Job& job) : collectives_(job) {}
  analysis::CollectiveBook collectives_;
  std::vector<Transfer> transfers_;
};

}  // namespace steplens::server
