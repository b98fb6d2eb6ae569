#include "analysis/collectives/group_sizes.h"

#include <algorithm>

#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/rank_facts.h"
#include "base/json.h"

namespace steplens::analysis {

namespace {

void Raise(std::map<std::string, int64_t>& sizes, const std::string& group, int64_t size) {
  if (size <= 0) return;
  int64_t& known = sizes[group];
  known = std::max(known, size);
}

void AddKineto(const store::TraceStore& rank, std::map<std::string, int64_t>& sizes) {
  const auto text = rank.FindMeta("distributedInfo");
  if (!text) return;
  const Result<JsonDocument> document = JsonDocument::Parse(std::string(*text), "distributedInfo");
  if (!document.ok()) return;
  const JsonValue root = document->root();
  Raise(sizes, "", root["world_size"].AsInt().value_or(0));
  root["pg_config"].ForEachElement([&](JsonValue group) {
    const auto name = group["pg_name"].AsString();
    if (name) Raise(sizes, cluster::GroupName(*name), group["pg_size"].AsInt().value_or(0));
  });
}

}  // namespace

std::map<std::string, int64_t> GroupSizesOf(const store::TraceStore& rank) {
  std::map<std::string, int64_t> sizes;
  for (const cluster::GroupFact& fact : cluster::DescribeRank(rank).groups)
    Raise(sizes, cluster::GroupName(fact.id), static_cast<int64_t>(fact.ranks.size()));
  for (const auto& [group, size] : cluster::LeastMembers(rank)) Raise(sizes, group, size);
  AddKineto(rank, sizes);
  return sizes;
}

GroupSizes::GroupSizes(const store::Job& job) {
  for (const store::TraceStore& rank : job.ranks) Add(GroupSizesOf(rank));
}

void GroupSizes::Add(const std::map<std::string, int64_t>& of_rank) {
  for (const auto& [group, size] : of_rank) Raise(sizes_, group, size);
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
