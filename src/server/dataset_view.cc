// What a request sees of a data set: ranks and lanes by number, and what requests add to them.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/saturate.h"
#include "server/dataset.h"
#include "server/timeline/merged_lane.h"

namespace steplens::server {
namespace {

constexpr size_t kMaxAlignments = 64;

// Merged lanes are numbered apart from those of the ranks.
constexpr uint32_t kFirstMergedId = uint32_t{1} << 28;
constexpr size_t kMaxMerged = 256;
constexpr uint64_t kMaxMergedSlices = 32'000'000;  // about 200 MB
constexpr uint32_t kFirstQueryId = uint32_t{1} << 29;
constexpr size_t kMaxQueryLanes = 1024;

}  // namespace

Result<uint32_t> Dataset::View::KeepAlignment(std::vector<int64_t> offset_ns) const {
  const std::lock_guard lock(d_.alignments_mutex_);
  auto& known = d_.alignments_;
  for (const auto& [id, alignment] : known) {
    if (alignment.offset_ns == offset_ns) return id;
  }
  const uint32_t id = d_.next_alignment_++;
  known[id] = {std::move(offset_ns)};
  if (known.size() > kMaxAlignments + 1) known.erase(std::next(known.begin()));
  return id;
}

std::vector<size_t> Dataset::View::SlotsByRank() const {
  std::vector<size_t> slots(d_.ranks_.size());
  for (size_t i = 0; i < slots.size(); ++i) slots[i] = i;
  std::sort(slots.begin(), slots.end(),
            [&](size_t a, size_t b) { return d_.ranks_[a]->rank < d_.ranks_[b]->rank; });
  return slots;
}

std::vector<int64_t> Dataset::View::PendingRanks() const {
  if (d_.is_ready()) return {};
  std::set<int64_t> pending = d_.found_ranks_;
  for (const auto& shown : d_.ranks_) pending.erase(shown->rank);
  return {pending.begin(), pending.end()};
}

std::optional<size_t> Dataset::View::SlotOf(int64_t rank) const {
  for (size_t i = 0; i < d_.ranks_.size(); ++i) {
    if (d_.ranks_[i]->rank == rank) return i;
  }
  return std::nullopt;
}

Result<const Lane*> Dataset::View::Merge(std::vector<const Lane*> lanes) const {
  SL_ASSIGN_OR_RETURN(std::unique_ptr<Lane> merged, MergeLanes(std::move(lanes)));
  const std::lock_guard lock(d_.merged_mutex_);
  for (const auto& known : d_.merged_) {
    if (known->parts == merged->parts) return known.get();
  }
  if (d_.merged_.size() >= kMaxMerged || d_.merged_slices_ + merged->count > kMaxMergedSlices)
    return Error{ErrorCode::kUnsupported, "too many lanes were merged since the server started"};
  FillMerged(*merged, *RankOf(*merged).timeline);
  merged->id = kFirstMergedId + static_cast<uint32_t>(d_.merged_.size());
  d_.merged_slices_ += merged->count;
  return d_.merged_.emplace_back(std::move(merged)).get();
}

std::vector<const Lane*> Dataset::View::QueryLanes(const std::string& key) const {
  const std::lock_guard lock(d_.merged_mutex_);
  const auto known = d_.lanes_of_query_.find(key);
  return known == d_.lanes_of_query_.end() ? std::vector<const Lane*>() : known->second;
}

Result<std::vector<const Lane*>> Dataset::View::KeepQueryLanes(const std::string& key,
                                                               std::string_view title,
                                                               const table::Table& result) const {
  SL_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<QueryLane>> made,
                      LanesOfResult(result, title, d_.names_));
  const std::lock_guard lock(d_.merged_mutex_);
  if (const auto known = d_.lanes_of_query_.find(key); known != d_.lanes_of_query_.end())
    return known->second;
  uint64_t slices = d_.merged_slices_;
  for (const auto& lane : made) slices += lane->lane.count;
  if (d_.query_lanes_.size() + made.size() > kMaxQueryLanes || slices > kMaxMergedSlices)
    return Error{ErrorCode::kUnsupported, "too many lanes were made since the server started"};
  std::vector<const Lane*> out;
  for (const auto& one : made) {
    // Rows of no rank belong to the first: all ranks are shown on one axis.
    const std::optional<size_t> slot =
        one->rank == store::kNone ? SlotsByRank().front() : SlotOf(one->rank);
    if (!slot)
      return Error{ErrorCode::kInvalidArgument,
                   "the result names rank " + std::to_string(one->rank) + ", which is not here"};
    const Lane& root = *d_.ranks_[*slot]->timeline->lanes().front();
    one->lane.id = kFirstQueryId + static_cast<uint32_t>(d_.query_lanes_.size() + out.size());
    one->lane.parent = root.id;
    one->lane.rank_slot = *slot;
    one->lane.device = root.device;
    // The same for the same query in every run of the server.
    one->lane.path = fmt::format("{}/sql/{}~{:06x}.{}", root.path, one->lane.path,
                                 Hash64(key) & 0xffffff, out.size());
    out.push_back(&one->lane);
  }
  d_.merged_slices_ = slices;
  for (auto& one : made) d_.query_lanes_.push_back(std::move(one));
  return d_.lanes_of_query_[key] = std::move(out);
}

const Lane* Dataset::View::FindLane(int64_t id) const {
  if (id >= kFirstQueryId) {
    const std::lock_guard lock(d_.merged_mutex_);
    const auto index = static_cast<size_t>(id - kFirstQueryId);
    return index < d_.query_lanes_.size() ? &d_.query_lanes_[index]->lane : nullptr;
  }
  if (id >= kFirstMergedId) {
    const std::lock_guard lock(d_.merged_mutex_);
    const auto index = static_cast<size_t>(id - kFirstMergedId);
    return index < d_.merged_.size() ? d_.merged_[index].get() : nullptr;
  }
  if (id < 1 || static_cast<size_t>(id) > d_.lanes_.size()) return nullptr;
  return d_.lanes_[static_cast<size_t>(id) - 1];
}

std::optional<int64_t> Dataset::View::BaseNs(size_t slot, uint32_t align) const {
  const std::lock_guard lock(d_.alignments_mutex_);
  const auto found = d_.alignments_.find(align);
  if (found == d_.alignments_.end()) return std::nullopt;
  return AddSaturating(d_.origin_ns_, found->second.offset_ns[slot]);
}

}  // namespace steplens::server
