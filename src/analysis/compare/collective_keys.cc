#include "analysis/compare/collective_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/cluster/group_name.h"
#include "analysis/cluster/rank_facts.h"

namespace steplens::analysis {
namespace {

// The members of each group; without the groups whose members nobody tells.
std::map<StringId, std::string> MembersOfGroups(const store::TraceStore& store) {
  std::map<StringId, std::string> members;
  const cluster::RankFacts facts = cluster::DescribeRank(store);
  for (const StringId id : store.comm_ops.group_name) {
    const auto [place, is_new] = members.try_emplace(id);
    if (!is_new) continue;
    const std::string_view group = store.Text(id);
    for (const cluster::GroupFact& fact : facts.groups) {
      if (fact.id != group && cluster::GroupName(fact.id) != cluster::GroupName(group)) continue;
      if (!fact.ranks.empty()) place->second = "ranks " + fact.ranks.ToShortText();
    }
  }
  std::erase_if(members, [](const auto& one) { return one.second.empty(); });
  return members;
}

}  // namespace

std::map<StringId, std::string> CollectiveKeys(const store::TraceStore& store) {
  const store::CommOpTable& ops = store.comm_ops;
  std::vector<uint32_t> order(ops.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return ops.begin_ns[a] < ops.begin_ns[b]; });
  std::map<StringId, std::string> groups = MembersOfGroups(store);
  std::map<StringId, std::string> keys;
  size_t unknown = 0;
  for (const uint32_t i : order) {
    std::string& group = groups[ops.group_name[i]];
    if (group.empty()) group = fmt::format("group {}", ++unknown);
    const std::string_view name = store.Text(ops.name[i]);
    const size_t number = name.find("__");
    if (number == name.npos) continue;  // a name without numbers of the run
    keys.try_emplace(ops.name[i], fmt::format("{} ({})", name.substr(0, number), group));
  }
  return keys;
}

}  // namespace steplens::analysis
