#include "analysis/compare/call_groups.h"

#include <fmt/format.h>

#include "analysis/cluster/group_name.h"

namespace steplens::analysis {

CallGroups::CallGroups(const store::TraceStore& store, const cluster::RankFacts& facts)
    : store_(store) {
  for (const cluster::GroupFact& fact : facts.groups) {
    CallGroup group;
    const std::string members = fact.ranks.empty() ? "" : "ranks " + fact.ranks.ToShortText();
    group.kind = fact.pg_name.empty() ? members : fact.pg_name;
    group.name = fact.pg_name.empty() || members.empty()
                     ? group.kind
                     : fmt::format("{} ({})", fact.pg_name, members);
    if (group.kind.empty()) continue;
    known_.try_emplace(fact.id, group);
    known_.try_emplace(cluster::GroupName(fact.id), group);
  }
}

const CallGroup& CallGroups::Of(StringId id) {
  const auto [place, is_new] = by_id_.try_emplace(id);
  if (!is_new) return place->second;
  const std::string text(store_.Text(id));
  auto known = known_.find(text);
  if (known == known_.end()) known = known_.find(cluster::GroupName(text));
  if (known != known_.end()) {
    place->second = known->second;
  } else {
    const std::string name = fmt::format("group {}", ++unknown_);
    place->second = {name, name};
  }
  return place->second;
}

}  // namespace steplens::analysis
