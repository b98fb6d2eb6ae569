#include "analysis/cluster/summary/late_ranks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "analysis/cluster/summary/robust.h"
#include "analysis/cluster/summary/stages.h"

namespace steplens::analysis::cluster {
namespace {

constexpr double kSpreads = 5;       // distance from the others in units of their spread
constexpr double kGroupMatch = 0.8;  // share of a group that must be late, and of the late in it

using Ranks = LoadsOfStage;

// The late ranks among peers: those below the largest step in the sorted waits, if the distance to
// what is above is more than noise.
Ranks LateAmong(Ranks peers) {
  std::erase_if(peers, [](const RankLoad* rank) { return !rank->has_calls; });
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
      best = LateGroup{dimension.name, index, {}, 0, LateReason::kUnknown, 0, false};
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

// What ranks do themselves.
constexpr std::pair<LateReason, double RankLoad::*> kOwnReasons[] = {
    {LateReason::kComputing, &RankLoad::computing_ms}, {LateReason::kHost, &RankLoad::free_ms}};

// A rank that does more of something than its peers, though nobody waits for it yet.
struct Excess {
  RankLoad* rank = nullptr;
  double ms = 0;
};

// Those of a stage, the largest first.
std::vector<Excess> ExcessesAmong(const Ranks& peers, double RankLoad::* field) {
  std::vector<Excess> out;
  if (peers.size() < 3) return out;  // of two nobody can tell which is usual
  std::vector<double> values;
  for (const RankLoad* rank : peers) values.push_back(rank->*field);
  const double usual_ms = Median(values);
  const double noise_ms = std::max(kMinShareOfStep * MedianOf(peers, &RankLoad::step_ms),
                                   kSpreads * RobustSpread(values));
  for (RankLoad* rank : peers) {
    if (rank->*field - usual_ms > noise_ms) out.push_back({rank, rank->*field - usual_ms});
  }
  return out;
}

// The largest of the excesses of all stages, and those about as large.
std::vector<Excess> LargestOf(const std::map<int64_t, Ranks>& stages, double RankLoad::* field) {
  constexpr double kAlike = 0.6;
  std::vector<Excess> out;
  double largest_ms = 0;
  for (const auto& [stage, peers] : stages) {
    for (const Excess& excess : ExcessesAmong(peers, field)) {
      out.push_back(excess);
      largest_ms = std::max(largest_ms, excess.ms);
    }
  }
  std::erase_if(out, [&](const Excess& excess) { return excess.ms < kAlike * largest_ms; });
  return out;
}

// The group or ranks behind excesses that are about as large.
std::vector<LateGroup> NameExcesses(const std::vector<Excess>& excesses, LateReason reason,
                                    const Ranks& all) {
  Ranks chosen;
  std::vector<double> sizes_ms;
  std::vector<LateGroup> out;
  for (const Excess& excess : excesses) {
    chosen.push_back(excess.rank);
    sizes_ms.push_back(excess.ms);
    const int64_t rank = excess.rank->rank;
    out.push_back(
        {"rank", std::to_string(rank), {rank}, excess.ms, reason, excess.ms, /*is_hidden=*/true});
  }
  std::optional<LateGroup> group = CommonGroup(chosen, all);
  if (!group) return out;
  group->late_ms = group->excess_ms = Median(sizes_ms);
  group->reason = reason;
  group->is_hidden = true;
  return {*group};
}

// Leaves out the ranks that were named for this reason.
void EraseNamed(const std::vector<LateGroup>& named, LateReason reason, Ranks& ranks) {
  std::set<int64_t> numbers;
  for (const LateGroup& group : named) {
    if (group.reason == reason) numbers.insert(group.ranks.begin(), group.ranks.end());
  }
  std::erase_if(ranks, [&](const RankLoad* rank) { return numbers.contains(rank->rank); });
}

// What lies behind the faults that were named: takes their ranks away and looks again, until
// nothing is left.
std::vector<LateGroup> FindHidden(const std::vector<LateGroup>& named,
                                  const std::map<int64_t, Ranks>& stages, const Ranks& all) {
  std::vector<LateGroup> out;
  for (const auto& [reason, field] : kOwnReasons) {
    std::map<int64_t, Ranks> rest = stages;
    for (auto& [stage, peers] : rest) EraseNamed(named, reason, peers);
    while (true) {
      const std::vector<Excess> excesses = LargestOf(rest, field);
      if (excesses.empty()) break;
      const std::vector<LateGroup> found = NameExcesses(excesses, reason, all);
      for (auto& [stage, peers] : rest) EraseNamed(found, reason, peers);
      out.insert(out.end(), found.begin(), found.end());
    }
  }
  return out;
}

// The late ranks together with those that are as slow for the same reason but wait for each other,
// or for slow transfers besides.
Ranks WithAlike(const Ranks& late, const std::vector<LateGroup>& alone,
                const std::map<int64_t, Ranks>& stages) {
  Ranks out = late;
  for (const auto& [reason, field] : kOwnReasons) {
    const bool is_of_all = std::all_of(alone.begin(), alone.end(),
                                       [&](const LateGroup& one) { return one.reason == reason; });
    if (!is_of_all) continue;
    for (const Excess& excess : LargestOf(stages, field)) out.push_back(excess.rank);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

LateGroup RankAlone(const RankLoad& rank) {
  return {"rank", std::to_string(rank.rank), {rank.rank}, rank.late_ms, LateReason::kUnknown, 0,
          false};
}

std::vector<LateGroup> FindLateAndHidden(std::vector<RankLoad>& ranks) {
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
  std::optional<LateGroup> group = CommonGroup(late, all);
  if (!group && !late.empty()) {
    const Ranks alike = WithAlike(late, alone, stages);
    group = CommonGroup(alike, all);
    if (group) late = alike;
  }
  if (group) {
    group->late_ms = MedianOf(late, &RankLoad::late_ms);
    FindReason(late, Without(all, late), *group);
    out.push_back(std::move(*group));
  } else {
    out = std::move(alone);
  }
  const std::vector<LateGroup> hidden = FindHidden(out, stages, all);
  for (auto& [stage, peers] : stages) peers = Without(peers, late);
  for (LateGroup& stage : FindSlowStages(stages)) out.push_back(std::move(stage));
  out.insert(out.end(), hidden.begin(), hidden.end());
  return out;
}

}  // namespace

std::vector<LateGroup> FindLateRanks(std::vector<RankLoad>& ranks) {
  std::vector<RankLoad> even = ranks;
  const std::optional<LateGroup> uneven = TakeUnevenExperts(even);
  std::vector<LateGroup> out = FindLateAndHidden(even);
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].late_ms = even[i].late_ms;
    ranks[i].compute_percent = even[i].compute_percent;
  }
  if (uneven) out.push_back(*uneven);
  std::stable_sort(out.begin(), out.end(),
                   [](const LateGroup& a, const LateGroup& b) { return a.late_ms > b.late_ms; });
  return out;
}

}  // namespace steplens::analysis::cluster
