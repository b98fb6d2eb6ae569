#include "analysis/collectives/group_sizes.h"

#include <algorithm>

#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/rank_facts.h"
#include "base/json.h"

namespace steplens::analysis {

GroupSizes::GroupSizes(const store::Job& job) {
  for (const store::TraceStore& rank : job.ranks) {
    for (const cluster::GroupFact& fact : cluster::DescribeRank(rank).groups) {
      Raise(cluster::GroupName(fact.id), static_cast<int64_t>(fact.ranks.size()));
    }
    for (const auto& [group, size] : cluster::LeastMembers(rank)) Raise(group, size);
    AddKineto(rank);
  }
}

void GroupSizes::AddKineto(const store::TraceStore& rank) {
  const auto text = rank.FindMeta("distributedInfo");
  if (!text) return;
  const Result<JsonDocument> document = JsonDocument::Parse(std::string(*text), "distributedInfo");
  if (!document.ok()) return;
  const JsonValue root = document->root();
  Raise("", root["world_size"].AsInt().value_or(0));
  root["pg_config"].ForEachElement([&](JsonValue group) {
    const auto name = group["pg_name"].AsString();
    if (name) Raise(cluster::GroupName(*name), group["pg_size"].AsInt().value_or(0));
  });
}

void GroupSizes::Raise(const std::string& group, int64_t size) {
  if (size <= 0) return;
  int64_t& known = sizes_[group];
  known = std::max(known, size);
}

int64_t GroupSizes::Of(const std::string& group) const {
  if (const auto found = sizes_.find(group); found != sizes_.end()) return found->second;
  // A timeline that numbers its groups names them by the last digits of their hash only.
  if (group.empty() || cluster::GroupSuffix(group) != group) return 0;
  int64_t size = 0;
  for (const auto& [name, known] : sizes_) {
    if (cluster::GroupSuffix(name) != group || name == group) continue;
    if (size != 0) return 0;  // digits of two groups
    size = known;
  }
  return size;
}

}  // namespace steplens::analysis
