#include "server/rank_links.h"

#include <map>
#include <unordered_map>

#include "analysis/parallel/rank_transfers.h"

namespace steplens::server {

Result<RankLinks> RankLinks::Find(const store::Job& job) {
  RankLinks out(job);
  const auto transfers = analysis::FindRankTransfers(job);
  // Draw the other arrows even if some ends cannot be paired.
  if (!transfers.ok() || transfers->empty()) return out;
  // Ends are identified by rank and start; the row also gives the lane.
  std::map<int64_t, uint32_t> index_of_rank;
  std::vector<std::unordered_map<int64_t, uint32_t>> row_at(job.ranks.size());
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    index_of_rank[job.ranks[r].info.rank] = r;
    const auto begins = job.ranks[r].comm_ops.begin_ns.span();
    for (uint32_t row = 0; row < begins.size(); ++row) row_at[r].try_emplace(begins[row], row);
  }
  const auto find = [&](int64_t rank, int64_t begin_ns, End& end) {
    const auto index = index_of_rank.find(rank);
    if (index == index_of_rank.end()) return false;
    const auto row = row_at[index->second].find(begin_ns);
    if (row == row_at[index->second].end()) return false;
    end = {index->second, row->second};
    return true;
  };
  for (const analysis::RankTransfer& transfer : *transfers) {
    Transfer found;
    if (find(transfer.from_rank, transfer.from_ns, found.from) &&
        find(transfer.to_rank, transfer.to_ns, found.to))
      out.transfers_.push_back(found);
  }
  return out;
}

}  // namespace steplens::server
