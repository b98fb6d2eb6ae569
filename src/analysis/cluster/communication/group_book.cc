#include "analysis/cluster/communication/group_book.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "analysis/cluster/group_name.h"
#include "base/saturate.h"

namespace steplens::analysis::cluster {
namespace {

using store::TraceStore;

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Sets that share members, directly or through others, become one.
std::vector<std::vector<int64_t>> Unite(const std::vector<std::vector<int64_t>>& sets) {
  std::vector<size_t> parent(sets.size());
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto root = [&](size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  std::map<int64_t, size_t> first_set;
  for (size_t i = 0; i < sets.size(); ++i) {
    for (const int64_t rank : sets[i]) {
      const auto [place, is_new] = first_set.try_emplace(rank, i);
      if (is_new) continue;
      const size_t a = root(place->second);
      const size_t b = root(i);
      parent[std::max(a, b)] = std::min(a, b);
    }
  }
  std::map<size_t, std::vector<int64_t>> united;
  for (const auto& [rank, set] : first_set) united[root(set)].push_back(rank);
  std::vector<std::vector<int64_t>> out;
  for (auto& [set, ranks] : united) out.push_back(std::move(ranks));
  std::sort(out.begin(), out.end());
  return out;
}

// The reference's way: the first set absorbs, in one pass, the later ones it meets.
std::vector<std::vector<int64_t>> UniteOnePass(std::vector<std::vector<int64_t>> sets) {
  std::sort(sets.begin(), sets.end());
  std::vector<std::vector<int64_t>> out;
  while (!sets.empty()) {
    std::set<int64_t> chain(sets.front().begin(), sets.front().end());
    std::vector<std::vector<int64_t>> rest;
    for (size_t i = 1; i < sets.size(); ++i) {
      const bool meets = std::any_of(sets[i].begin(), sets[i].end(),
                                     [&](int64_t rank) { return chain.contains(rank); });
      if (meets) {
        chain.insert(sets[i].begin(), sets[i].end());
      } else {
        rest.push_back(std::move(sets[i]));
      }
    }
    out.emplace_back(chain.begin(), chain.end());
    sets = std::move(rest);
  }
  return out;
}

}  // namespace

bool IsP2pName(std::string_view op_name) {
  const std::string name = Lower(op_name);
  return name.find("send") != name.npos || name.find("receive") != name.npos ||
         name.find("recv") != name.npos;
}

std::vector<GroupUse> UsedGroups(const TraceStore& rank) {
  std::set<std::pair<StringId, bool>> known;
  std::vector<std::pair<StringId, bool>> used;
  const auto use = [&](StringId group, bool is_p2p) {
    if (known.emplace(group, is_p2p).second) used.emplace_back(group, is_p2p);
  };
  const store::CommTimeTable& times = rank.comm_times;
  for (size_t i = 0; i < times.size(); ++i) {
    const std::string_view kind = rank.Text(times.kind[i]);
    const std::string_view op = rank.Text(times.op_name[i]);
    if (op.starts_with("Total")) continue;
    use(times.group_name[i], kind.empty() ? IsP2pName(op) : kind == "p2p");
  }
  if (times.size() == 0) {
    for (size_t i = 0; i < rank.comm_ops.size(); ++i) {
      use(rank.comm_ops.group_name[i], IsP2pName(rank.Text(rank.comm_ops.name[i])));
    }
  }
  std::vector<GroupUse> out;
  for (const auto& [group, is_p2p] : used) out.push_back({GroupName(rank.Text(group)), is_p2p});
  return out;
}

std::map<std::string, int64_t> LeastMembers(const TraceStore& rank) {
  std::map<StringId, int64_t> largest;
  for (size_t i = 0; i < rank.comm_links.size(); ++i) {
    int64_t& local = largest[rank.comm_links.group_name[i]];
    local = std::max<int64_t>({local, rank.comm_links.src_rank[i], rank.comm_links.dst_rank[i]});
  }
  std::map<std::string, int64_t> out;
  for (const auto& [group, local] : largest)
    out[GroupName(rank.Text(group))] = AddSaturating(local, 1);
  return out;
}

void GroupBook::Add(const RankFacts& facts, const std::vector<GroupUse>& used) {
  is_current_ = false;
  for (const GroupFact& fact : facts.groups) facts_.try_emplace(GroupName(fact.id), fact);
  for (const GroupUse& use : used) {
    Seen& seen = seen_.try_emplace(use, Seen{seen_.size(), {}}).first->second;
    seen.ranks.push_back(facts.rank);
  }
}

const std::vector<GroupBook::Group>& GroupBook::groups() const {
  if (is_current_) return groups_;
  groups_.clear();
  for (const auto& [use, seen] : seen_) {
    Group group;
    group.use = use;
    group.sight = seen.sight;
    group.seen = RankSet(seen.ranks);
    const GroupFact* fact = FindFact(use.name);
    if (fact != nullptr) {
      group.id = fact->id;
      group.pg_name = fact->pg_name;
    }
    group.members = fact != nullptr && !fact->ranks.empty() ? fact->ranks : group.seen;
    groups_.push_back(std::move(group));
  }
  std::stable_sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
    return std::tie(a.use.is_p2p, a.use.name) < std::tie(b.use.is_p2p, b.use.name);
  });
  is_current_ = true;
  return groups_;
}

const GroupBook::Group* GroupBook::Find(const GroupUse& use) const {
  const std::vector<Group>& all = groups();
  const auto found =
      std::lower_bound(all.begin(), all.end(), use, [](const Group& group, const GroupUse& wanted) {
        return std::tie(group.use.is_p2p, group.use.name) < std::tie(wanted.is_p2p, wanted.name);
      });
  return found != all.end() && found->use == use ? &*found : nullptr;
}

const GroupFact* GroupBook::FindFact(const std::string& group_name) const {
  const auto found = facts_.find(group_name);
  return found == facts_.end() ? nullptr : &found->second;
}

std::vector<RankSet> InferStages(const GroupBook& book, bool compat) {
  std::vector<std::vector<int64_t>> links;
  for (const GroupBook::Group& group : book.groups()) {
    if (group.use.is_p2p && Lower(group.pg_name).starts_with("pp"))
      links.push_back(group.members.ranks());
  }
  if (links.empty()) return {};
  const std::vector<std::vector<int64_t>> chains = compat ? UniteOnePass(links) : Unite(links);
  std::map<int64_t, size_t> chain_of;
  for (size_t i = 0; i < chains.size(); ++i) {
    for (const int64_t rank : chains[i]) chain_of.emplace(rank, i);
  }
  std::vector<std::vector<int64_t>> inside;
  for (const GroupBook::Group& group : book.groups()) {
    if (group.use.is_p2p) continue;
    std::set<size_t> met;
    bool is_within = true;
    const std::vector<int64_t> ranks = group.members.ranks();
    for (const int64_t rank : ranks) {
      const auto chain = chain_of.find(rank);
      if (chain != chain_of.end() && !met.insert(chain->second).second) is_within = false;
    }
    if (is_within) inside.push_back(ranks);
  }
  std::vector<RankSet> stages;
  for (std::vector<int64_t>& ranks : Unite(inside)) stages.emplace_back(std::move(ranks));
  return stages;
}

}  // namespace steplens::analysis::cluster
