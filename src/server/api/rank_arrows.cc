#include "server/api/rank_arrows.h"

#include <algorithm>

namespace steplens::server {
namespace {

using analysis::CollectiveBook;
using analysis::CollectivePart;

// Places of ranks of the job among the ranks that are shown.
class Ranks {
 public:
  explicit Ranks(const Ask& ask) : ask_(ask), slots_(ask.view.SlotsByRank()) {}
  const ShownRank& At(uint32_t rank_index) const { return *ask_.view.ranks()[slots_[rank_index]]; }
  const Lane* LaneOf(uint32_t rank_index, uint32_t row) const {
    const ShownRank& rank = At(rank_index);
    return rank.timeline->LaneOf(rank.store->comm_ops.track[row]);
  }

 private:
  const Ask& ask_;
  std::vector<size_t> slots_;
};

const CollectivePart& LastToArrive(const CollectiveBook::Call& call) {
  return *std::min_element(
      call.parts.begin(), call.parts.end(),
      [](const CollectivePart& a, const CollectivePart& b) { return a.dur_ns < b.dur_ns; });
}

}  // namespace

void ForEachCollectiveArrow(const Ask& ask, const RankLinks& links,
                            const std::function<void(const RankArrow&)>& visit) {
  const Ranks ranks(ask);
  for (const CollectiveBook::Call& call : links.collectives().calls()) {
    if (call.parts.size() < 2) continue;
    const CollectivePart& last = LastToArrive(call);
    RankArrow arrow;
    arrow.from = ranks.LaneOf(last.rank_index, last.row);
    if (arrow.from == nullptr) continue;
    arrow.from_ns = ask.ToShown(*arrow.from, last.begin_ns);
    for (const CollectivePart& part : call.parts) {
      if (&part == &last) continue;
      arrow.to = ranks.LaneOf(part.rank_index, part.row);
      if (arrow.to == nullptr) continue;
      arrow.to_ns = ask.ToShown(*arrow.to, SubtractSaturating(part.end_ns(), last.dur_ns));
      visit(arrow);
    }
  }
}

void ForEachTransferArrow(const Ask& ask, const RankLinks& links,
                          const std::function<void(const RankArrow&)>& visit) {
  const Ranks ranks(ask);
  for (const RankLinks::Transfer& transfer : links.transfers()) {
    RankArrow arrow;
    arrow.from = ranks.LaneOf(transfer.from.rank_index, transfer.from.row);
    arrow.to = ranks.LaneOf(transfer.to.rank_index, transfer.to.row);
    if (arrow.from == nullptr || arrow.to == nullptr) continue;
    const auto& sends = ranks.At(transfer.from.rank_index).store->comm_ops;
    const auto& receives = ranks.At(transfer.to.rank_index).store->comm_ops;
    arrow.from_ns = ask.ToShown(*arrow.from, sends.begin_ns[transfer.from.row]);
    arrow.to_ns = ask.ToShown(*arrow.to, receives.begin_ns[transfer.to.row]);
    // A receive that was there first waits: the arrow ends where it has the data.
    if (arrow.to_ns < arrow.from_ns)
      arrow.to_ns =
          std::max(arrow.to_ns, AddSaturating(arrow.to_ns, receives.dur_ns[transfer.to.row] - 1));
    visit(arrow);
  }
}

SliceRef SliceOf(const Ask& ask, const RankLinks::End& end) {
  const Ranks ranks(ask);
  const ShownRank& rank = ranks.At(end.rank_index);
  const Lane* lane = ranks.LaneOf(end.rank_index, end.row);
  if (lane == nullptr) return {};
  const uint32_t slice = SliceAtFlowEnd(lane->rows, rank.store->comm_ops.begin_ns[end.row], false);
  if (slice == store::kNoId) return {};
  return {lane, slice, lane};
}

}  // namespace steplens::server
