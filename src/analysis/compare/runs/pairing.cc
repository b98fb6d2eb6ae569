#include "analysis/compare/runs/pairing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace steplens::analysis::runs {
namespace {

bool KnowsPositions(const RunSummary& run) {
  return std::all_of(run.ranks.begin(), run.ranks.end(),
                     [](const RankRun& rank) { return rank.position.is_known; });
}

std::vector<Position> PositionsOf(const RunSummary& run) {
  std::vector<Position> out;
  for (const RankRun& rank : run.ranks) out.push_back(rank.position);
  std::sort(out.begin(), out.end());
  return out;
}

std::string NameOfPair(const RankRun& a, const RankRun& b) {
  std::string name = a.rank == b.rank ? fmt::format("rank {}", a.rank)
                                      : fmt::format("rank {} / {}", a.rank, b.rank);
  const std::string place = a.position == b.position ? a.position.ToText() : "";
  return place.empty() ? name : fmt::format("{} ({})", name, place);
}

// Pairs ranks whose keys are equal and unlike all others; `a` and `b` are ascending by rank.
template <typename KeyOfRank>
void PairByKey(const RunSummary& a, const RunSummary& b, KeyOfRank&& key_of, Pairing& out) {
  using Key = decltype(key_of(a.ranks.front()));
  std::map<Key, size_t> in_b;
  for (size_t i = 0; i < b.ranks.size(); ++i) in_b.emplace(key_of(b.ranks[i]), i);
  for (size_t i = 0; i < a.ranks.size(); ++i) {
    const auto found = in_b.find(key_of(a.ranks[i]));
    if (found == in_b.end()) {
      out.only_a.push_back(a.ranks[i].rank);
      continue;
    }
    const size_t other = found->second;
    out.pairs.push_back({NameOfPair(a.ranks[i], b.ranks[other]), {i}, {other}});
    in_b.erase(found);
  }
  for (const auto& [key, place] : in_b) out.only_b.push_back(b.ranks[place].rank);
}

int64_t StagesOf(const RunSummary& run) {
  return run.ranks.empty() ? 1 : run.ranks.front().position.pp_size;
}

void PairByRole(const RunSummary& a, const RunSummary& b, Pairing& out) {
  const bool has_stages =
      KnowsPositions(a) && KnowsPositions(b) && StagesOf(a) == StagesOf(b) && StagesOf(a) > 1;
  const auto role_of = [&](const RankRun& rank) { return has_stages ? rank.position.pp : 0; };
  std::map<int64_t, RankPair> roles;
  for (size_t i = 0; i < a.ranks.size(); ++i) roles[role_of(a.ranks[i])].a.push_back(i);
  for (size_t i = 0; i < b.ranks.size(); ++i) roles[role_of(b.ranks[i])].b.push_back(i);
  for (auto& [role, pair] : roles) {
    if (pair.a.empty() || pair.b.empty()) continue;
    pair.name = has_stages ? fmt::format("stage {}", role) : std::string("all ranks");
    out.pairs.push_back(std::move(pair));
  }
}

}  // namespace

std::string_view PairedByName(PairedBy by) {
  switch (by) {
    case PairedBy::kPosition:
      return "parallel position";
    case PairedBy::kNumber:
      return "rank number";
    case PairedBy::kRole:
      return "role";
  }
  return "";
}

Pairing PairRanks(const RunSummary& a, const RunSummary& b) {
  Pairing out;
  if (a.ranks.size() == 1 && b.ranks.size() == 1) {
    out.pairs.push_back({NameOfPair(a.ranks[0], b.ranks[0]), {0}, {0}});
    return out;
  }
  if (KnowsPositions(a) && KnowsPositions(b) && PositionsOf(a) == PositionsOf(b)) {
    const std::vector<Position> places = PositionsOf(a);
    if (std::adjacent_find(places.begin(), places.end()) == places.end()) {
      out.by = PairedBy::kPosition;
      PairByKey(a, b, [](const RankRun& rank) { return rank.position; }, out);
      return out;
    }
  }
  if (a.ranks.size() == b.ranks.size()) {
    PairByKey(a, b, [](const RankRun& rank) { return rank.rank; }, out);
    if (!out.pairs.empty()) return out;
    out = {};
  }
  out.by = PairedBy::kRole;
  PairByRole(a, b, out);
  return out;
}

}  // namespace steplens::analysis::runs
