#include "analysis/cluster/summary/stages.h"

#include <algorithm>
#include <set>

#include "analysis/cluster/summary/robust.h"

namespace steplens::analysis::cluster {
namespace {

constexpr double kStageImbalance = 0.1;  // a stage's computing against the other stages'
constexpr double kExpertsExplain = 0.8;  // share of what a rank does longer

std::string HostOf(const LoadsOfStage& stage) {
  const std::string& host = stage.front()->host;
  const bool is_alone = std::all_of(stage.begin(), stage.end(),
                                    [&](const RankLoad* rank) { return rank->host == host; });
  return is_alone ? host : "";
}

size_t RanksOn(const std::string& host, const std::map<int64_t, LoadsOfStage>& stages) {
  size_t count = 0;
  for (const auto& [index, ranks] : stages) {
    count += static_cast<size_t>(std::count_if(
        ranks.begin(), ranks.end(), [&](const RankLoad* rank) { return rank->host == host; }));
  }
  return count;
}

// The stages that do more of something than the others.
std::vector<LateGroup> StagesWithMore(const std::map<int64_t, LoadsOfStage>& stages,
                                      LateReason reason, double RankLoad::* field) {
  std::vector<LateGroup> out;
  for (const auto& [index, ranks] : stages) {
    if (ranks.empty()) continue;
    std::vector<double> others;
    for (const auto& [other, other_ranks] : stages) {
      if (other != index && !other_ranks.empty()) others.push_back(MedianOf(other_ranks, field));
    }
    if (others.empty()) continue;
    const double usual_ms = Median(others);
    const double excess_ms = MedianOf(ranks, field) - usual_ms;
    const double step_ms = MedianOf(ranks, &RankLoad::step_ms);
    if (excess_ms <= kStageImbalance * usual_ms || excess_ms <= kMinShareOfStep * step_ms) continue;
    LateGroup group{"pp", std::to_string(index), {}, excess_ms, reason, excess_ms, false, {}};
    group.host = HostOf(ranks);
    for (const RankLoad* rank : ranks) group.ranks.push_back(rank->rank);
    out.push_back(std::move(group));
  }
  return out;
}

// Several slow stages that are all of a host, and all that is on it, are the host.
void JoinHosts(const std::map<int64_t, LoadsOfStage>& stages, std::vector<LateGroup>& slow) {
  std::map<std::string, size_t> stages_on;  // whole ones; 0 if ranks of others are on it, too
  std::set<std::string> shared;
  for (const auto& [index, ranks] : stages) {
    if (ranks.empty()) continue;
    const std::string host = HostOf(ranks);
    if (!host.empty()) ++stages_on[host];
    if (host.empty()) {
      for (const RankLoad* rank : ranks) shared.insert(rank->host);
    }
  }
  for (const auto& entry : stages_on) {
    const std::string& host = entry.first;
    const size_t count = entry.second;
    if (count < 2 || shared.contains(host)) continue;
    LateGroup joined{"host", host, {}, 0, LateReason::kUnknown, 0, false, {}};
    size_t slow_on = 0;
    for (const LateGroup& stage : slow) {
      if (stage.host != host || stage.dimension != "pp") continue;
      ++slow_on;
      joined.ranks.insert(joined.ranks.end(), stage.ranks.begin(), stage.ranks.end());
      joined.reason = stage.reason;
      joined.late_ms = joined.excess_ms = std::max(joined.excess_ms, stage.excess_ms);
    }
    if (slow_on < count) continue;
    std::erase_if(slow, [&](const LateGroup& stage) { return stage.host == host; });
    std::sort(joined.ranks.begin(), joined.ranks.end());
    slow.push_back(std::move(joined));
  }
}

}  // namespace

double MedianOf(const LoadsOfStage& ranks, double RankLoad::* field) {
  std::vector<double> values;
  for (const RankLoad* rank : ranks) values.push_back(rank->*field);
  return Median(std::move(values));
}

std::vector<LateGroup> FindSlowStages(const std::map<int64_t, LoadsOfStage>& stages) {
  std::vector<LateGroup> out;
  const std::pair<LateReason, double RankLoad::*> reasons[] = {
      {LateReason::kComputing, &RankLoad::computing_ms}, {LateReason::kHost, &RankLoad::free_ms}};
  for (const auto& [reason, field] : reasons) {
    std::vector<LateGroup> slow = StagesWithMore(stages, reason, field);
    JoinHosts(stages, slow);
    // A host that has other stages as well tells nothing.
    for (LateGroup& group : slow) {
      if (RanksOn(group.host, stages) != group.ranks.size()) group.host.clear();
    }
    out.insert(out.end(), slow.begin(), slow.end());
  }
  return out;
}

std::optional<LateGroup> TakeUnevenExperts(std::vector<RankLoad>& ranks) {
  std::map<int64_t, LoadsOfStage> stages;
  for (RankLoad& rank : ranks) {
    if (rank.expert_ms > 0) stages[rank.at ? rank.at->pp : 0].push_back(&rank);
  }
  LateGroup found{"rank", "", {}, 0, LateReason::kExperts, 0, false, {}};
  const RankLoad* busiest = nullptr;
  for (const auto& [stage, peers] : stages) {
    const double usual_ms = MedianOf(peers, &RankLoad::expert_ms);
    const double usual_work_ms =
        MedianOf(peers, &RankLoad::computing_ms) + MedianOf(peers, &RankLoad::free_ms);
    const double least_ms = kMinShareOfStep * MedianOf(peers, &RankLoad::step_ms);
    const auto more_ms = [&](const RankLoad& rank) { return rank.expert_ms - usual_ms; };
    bool is_uneven = false;
    for (const RankLoad* rank : peers) {
      const double work_ms = rank->computing_ms + rank->free_ms - usual_work_ms;
      if (more_ms(*rank) <= least_ms || more_ms(*rank) < kExpertsExplain * work_ms) continue;
      is_uneven = true;
      found.ranks.push_back(rank->rank);
      if (more_ms(*rank) <= found.excess_ms) continue;
      found.late_ms = found.excess_ms = more_ms(*rank);
      busiest = rank;
    }
    if (!is_uneven) continue;
    for (RankLoad* rank : peers) {
      const double longer_ms = more_ms(*rank);
      rank->computing_ms -= longer_ms;
      rank->suffered_ms += longer_ms;
    }
  }
  if (busiest == nullptr) return std::nullopt;
  if (busiest->at) found.dimension = "ep";
  found.index = std::to_string(busiest->at ? busiest->at->ep : busiest->rank);
  std::sort(found.ranks.begin(), found.ranks.end());
  return found;
}

}  // namespace steplens::analysis::cluster
