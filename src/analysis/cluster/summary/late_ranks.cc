#include "analysis/cluster/summary/late_ranks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "analysis/cluster/summary/robust.h"

namespace steplens::analysis::cluster {
namespace {

constexpr double kMinShareOfStep = 0.02;
constexpr double kSpreads = 5;           // distance from the others in units of their spread
constexpr double kStageImbalance = 0.1;  // a stage's computing against the other stages'
constexpr double kGroupMatch = 0.8;  // share of a group that must be late, and of the late in it

using Ranks = std::vector<RankLoad*>;

double MedianOf(const Ranks& ranks, double RankLoad::* field) {
  std::vector<double> values;
  for (const RankLoad* rank : ranks) values.push_back(rank->*field);
  return Median(std::move(values));
}

// The late ranks among peers: those below the largest step in the sorted waits, if the distance to
// what is above is more than noise.
Ranks LateAmong(Ranks peers) {
  if (peers.size() < 2) return {};
  std::sort(peers.begin(), peers.end(), [](const RankLoad* a, const RankLoad* b) {
    return std::pair(a->suffered_ms, a->rank) < std::pair(b->suffered_ms, b->rank);
  });
  size_t late = 0;
  double largest_gap = 0;
  // A host may hold a little more than half of a stage.
  const size_t most = std::max<size_t>(1, peers.size() * 3 / 5);
  for (size_t i = 1; i <= most; ++i) {
    const double gap = peers[i]->suffered_ms - peers[i - 1]->suffered_ms;
    if (gap > largest_gap) {
      largest_gap = gap;
      late = i;
    }
  }
  if (late == 0) return {};
  const Ranks others(peers.begin() + static_cast<int64_t>(late), peers.end());
  std::vector<double> waits;
  for (const RankLoad* rank : others) waits.push_back(rank->suffered_ms);
  const double usual_ms = Median(waits);
  const double noise_ms = std::max(kMinShareOfStep * MedianOf(peers, &RankLoad::step_ms),
                                   kSpreads * RobustSpread(waits));
  for (RankLoad* rank : peers) rank->late_ms = std::max(0.0, usual_ms - rank->suffered_ms);
  Ranks out(peers.begin(), peers.begin() + static_cast<int64_t>(late));
  if (out.back()->late_ms <= noise_ms) return {};
  return out;
}

// What the late have more of than the others: that is why they are late.
void FindReason(const Ranks& late, const Ranks& others, LateGroup& group) {
  const std::pair<LateReason, double RankLoad::*> candidates[] = {
      {LateReason::kComputing, &RankLoad::computing_ms},
      {LateReason::kHost, &RankLoad::free_ms},
      {LateReason::kTransfers, &RankLoad::transit_ms}};
  constexpr double kExplains = 0.25;  // share of the lateness that a reason must account for
  for (const auto& [reason, field] : candidates) {
    const double excess = MedianOf(late, field) - MedianOf(others, field);
    if (excess > group.excess_ms && excess > kExplains * group.late_ms) {
      group.reason = reason;
      group.excess_ms = excess;
    }
  }
}

struct Dimension {
  const char* name;
  std::function<std::string(const RankLoad&)> index;  // empty: not known
};

std::vector<Dimension> Dimensions() {
  const auto of = [](int64_t Coordinates::* field) {
    return [field](const RankLoad& rank) {
      return rank.at ? std::to_string((*rank.at).*field) : std::string();
    };
  };
  return {{"host", [](const RankLoad& rank) { return rank.host; }},
          {"tp", of(&Coordinates::tp)},
          {"cp", of(&Coordinates::cp)},
          {"ep", of(&Coordinates::ep)},
          {"dp", of(&Coordinates::dp)}};
}

// The smallest group that holds nearly all of the late ranks and is nearly all late; none if the
// late ranks have nothing in common.
std::optional<LateGroup> CommonGroup(const Ranks& late, const Ranks& all) {
  std::optional<LateGroup> best;
  if (late.size() < 2) return best;
  const std::set<const RankLoad*> is_late(late.begin(), late.end());
  for (const Dimension& dimension : Dimensions()) {
    std::map<std::string, Ranks> groups;
    for (RankLoad* rank : all) groups[dimension.index(*rank)].push_back(rank);
    if (groups.size() < 2) continue;
    for (const auto& [index, members] : groups) {
      if (index.empty() || members.size() < 2) continue;
      const auto common = static_cast<double>(
          std::count_if(members.begin(), members.end(),
                        [&](const RankLoad* rank) { return is_late.contains(rank); }));
      const bool matches = common >= kGroupMatch * static_cast<double>(members.size()) &&
                           common >= kGroupMatch * static_cast<double>(late.size());
      if (!matches || (best && best->ranks.size() <= members.size())) continue;
      best = LateGroup{dimension.name, index, {}, 0, LateReason::kUnknown, 0};
      for (const RankLoad* rank : members) best->ranks.push_back(rank->rank);
    }
  }
  return best;
}

void SetComputeScores(const Ranks& peers) {
  const double usual_ms = MedianOf(peers, &RankLoad::computing_ms);
  if (usual_ms <= 0) return;
  for (RankLoad* rank : peers) rank->compute_percent = 100 * (rank->computing_ms / usual_ms - 1);
}

// A pipeline stage whose computing is longer than the others'.
std::vector<LateGroup> SlowStages(const std::map<int64_t, Ranks>& stages) {
  std::vector<LateGroup> out;
  if (stages.size() < 2) return out;
  for (const auto& [index, ranks] : stages) {
    if (ranks.empty()) continue;
    std::vector<double> others;
    for (const auto& [other, other_ranks] : stages) {
      if (other != index && !other_ranks.empty())
        others.push_back(MedianOf(other_ranks, &RankLoad::computing_ms));
    }
    const double usual_ms = Median(others);
    const double excess_ms = MedianOf(ranks, &RankLoad::computing_ms) - usual_ms;
    const double step_ms = MedianOf(ranks, &RankLoad::step_ms);
    if (excess_ms <= kStageImbalance * usual_ms || excess_ms <= kMinShareOfStep * step_ms) continue;
    LateGroup group{"pp", std::to_string(index), {}, excess_ms, LateReason::kComputing, excess_ms};
    for (const RankLoad* rank : ranks) group.ranks.push_back(rank->rank);
    out.push_back(std::move(group));
  }
  return out;
}

int64_t StageOf(const RankLoad& rank) { return rank.at ? rank.at->pp : 0; }

Ranks Without(const Ranks& ranks, const Ranks& excluded) {
  const std::set<const RankLoad*> is_excluded(excluded.begin(), excluded.end());
  Ranks out;
  for (RankLoad* rank : ranks) {
    if (!is_excluded.contains(rank)) out.push_back(rank);
  }
  return out;
}

// A late rank makes those late that depend on it; they have no reason of their own. Where some have
// a reason, the others are left out. `late` and `alone` are parallel.
void DropTheInfected(Ranks& late, std::vector<LateGroup>& alone) {
  const bool any_explained = std::any_of(alone.begin(), alone.end(), [](const LateGroup& group) {
    return group.reason != LateReason::kUnknown;
  });
  if (!any_explained) return;
  for (size_t i = late.size(); i-- > 0;) {
    if (alone[i].reason != LateReason::kUnknown) continue;
    late.erase(late.begin() + static_cast<int64_t>(i));
    alone.erase(alone.begin() + static_cast<int64_t>(i));
  }
}

LateGroup RankAlone(const RankLoad& rank) {
  return {"rank", std::to_string(rank.rank), {rank.rank}, rank.late_ms, LateReason::kUnknown, 0};
}

}  // namespace

std::vector<LateGroup> FindLateRanks(std::vector<RankLoad>& ranks) {
  std::map<int64_t, Ranks> stages;
  Ranks all;
  for (RankLoad& rank : ranks) {
    stages[StageOf(rank)].push_back(&rank);
    all.push_back(&rank);
  }
  Ranks late;
  for (const auto& [stage, peers] : stages) {
    SetComputeScores(peers);
    const Ranks found = LateAmong(peers);
    late.insert(late.end(), found.begin(), found.end());
  }
  std::vector<LateGroup> alone;
  for (RankLoad* rank : late) {
    alone.push_back(RankAlone(*rank));
    FindReason({rank}, Without(stages.at(StageOf(*rank)), late), alone.back());
  }
  DropTheInfected(late, alone);

  std::vector<LateGroup> out;
  if (std::optional<LateGroup> group = CommonGroup(late, all)) {
    group->late_ms = MedianOf(late, &RankLoad::late_ms);
    FindReason(late, Without(all, late), *group);
    out.push_back(std::move(*group));
  } else {
    out = std::move(alone);
  }
  for (auto& [stage, peers] : stages) peers = Without(peers, late);
  for (LateGroup& stage : SlowStages(stages)) out.push_back(std::move(stage));
  std::stable_sort(out.begin(), out.end(),
                   [](const LateGroup& a, const LateGroup& b) { return a.late_ms > b.late_ms; });
  return out;
}

}  // namespace steplens::analysis::cluster
