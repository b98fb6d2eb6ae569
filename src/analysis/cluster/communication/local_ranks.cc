#include "analysis/cluster/communication/local_ranks.h"

#include <algorithm>

namespace steplens::analysis::cluster {
namespace {

constexpr int64_t kMostMembers = 1 << 20;  // a larger number in a link is none

}  // namespace

void LocalRanks::Add(int64_t rank, const LinkPart& part) {
  for (const GroupSight& sight : part.sights) Add(rank, part.Text(sight.group), sight);
}

void LocalRanks::Add(int64_t rank, const std::string& group, const GroupSight& sight) {
  Group& seen = groups_[group];
  seen.ranks.insert(rank);
  seen.largest = std::max(seen.largest, sight.largest);
  for (const int64_t self : sight.selves) seen.selves.try_emplace(self, rank);
}

std::vector<int64_t> LocalRanks::Of(const std::string& group, const GroupBook& book,
                                    bool compat) const {
  std::vector<int64_t> ranks;
  const auto set = [&](int64_t local, int64_t rank) {
    if (local < 0 || local > kMostMembers) return;
    const auto place = static_cast<size_t>(local);
    if (place >= ranks.size()) ranks.resize(place + 1, store::kNone);
    ranks[place] = rank;
  };
  if (const auto found = groups_.find(group); found != groups_.end()) {
    const Group& seen = found->second;
    if (!compat && static_cast<int64_t>(seen.ranks.size()) - 1 == seen.largest)
      ranks.assign(seen.ranks.begin(), seen.ranks.end());
    for (const auto& [local, rank] : seen.selves) set(local, rank);
  }
  const GroupFact* fact = compat ? nullptr : book.FindFact(group);
  if (fact == nullptr) return ranks;
  const std::vector<int64_t> members = fact->ranks.ranks();
  for (size_t i = 0; i < members.size(); ++i) set(static_cast<int64_t>(i), members[i]);
  return ranks;
}

}  // namespace steplens::analysis::cluster
