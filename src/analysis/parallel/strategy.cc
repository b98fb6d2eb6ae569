#include "analysis/parallel/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace steplens::analysis {
namespace {

enum class Dimension : uint8_t { kTp, kCp, kDp, kPp };

// What EP divides.
enum class EpOf : uint8_t { kDp, kCpDp, kTpDpMoe, kTpDp };

struct Algorithm {
  std::string_view name;
  std::array<Dimension, 4> order;  // fast to slow; a dimension an algorithm lacks has size 1
  EpOf ep_of;
};
constexpr std::array<Algorithm, 5> kAlgorithms{{
    {"megatron-lm(tp-cp-ep-dp-pp)",
     {Dimension::kTp, Dimension::kCp, Dimension::kDp, Dimension::kPp},
     EpOf::kDp},
    {"megatron-lm(tp-cp-pp-ep-dp)",
     {Dimension::kTp, Dimension::kCp, Dimension::kPp, Dimension::kDp},
     EpOf::kDp},
    {"mindspeed(tp-cp-ep-dp-pp)",
     {Dimension::kTp, Dimension::kCp, Dimension::kDp, Dimension::kPp},
     EpOf::kCpDp},
    {"mindie-llm(tp-dp-ep-pp-moetp)",
     {Dimension::kTp, Dimension::kCp, Dimension::kDp, Dimension::kPp},
     EpOf::kTpDpMoe},
    {"vllm(tp-pp-dp-ep)",
     {Dimension::kTp, Dimension::kCp, Dimension::kPp, Dimension::kDp},
     EpOf::kTpDp},
}};

const Algorithm* FindAlgorithm(std::string_view name) {
  const auto found =
      std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                   [&](const Algorithm& algorithm) { return algorithm.name == name; });
  return found == kAlgorithms.end() ? nullptr : &*found;
}

const Algorithm& AlgorithmOf(const Strategy& strategy) {
  const Algorithm* found = FindAlgorithm(strategy.algorithm);
  return found == nullptr ? kAlgorithms.front() : *found;
}

int64_t SizeOf(const Strategy& strategy, Dimension dimension) {
  switch (dimension) {
    case Dimension::kTp:
      return strategy.tp;
    case Dimension::kCp:
      return strategy.cp;
    case Dimension::kDp:
      return strategy.dp;
    case Dimension::kPp:
      return strategy.pp;
  }
  return 1;
}

int64_t& IndexOf(RankPlace& place, Dimension dimension) {
  switch (dimension) {
    case Dimension::kTp:
      return place.tp;
    case Dimension::kCp:
      return place.cp;
    case Dimension::kDp:
      return place.dp;
    case Dimension::kPp:
      break;
  }
  return place.pp;
}

Error Broken(std::string message) {
  return Error{ErrorCode::kInvalidArgument, "the strategy does not hold: " + std::move(message)};
}

// Where a rank stands among experts: index in EP, and in what is left of the dimensions EP divides.
struct ExpertPlace {
  int64_t ep = 0;
  int64_t rest = 0;
  int64_t tp = 0;  // 0 where EP divides TP, too
  int64_t cp = 0;  // 0 where EP divides CP, too
};
ExpertPlace ExpertOf(const Strategy& s, const RankPlace& at) {
  switch (AlgorithmOf(s).ep_of) {
    case EpOf::kDp:
      return {at.dp % s.ep, at.dp / s.ep, at.tp, at.cp};
    case EpOf::kCpDp: {
      const int64_t merged = at.dp * s.cp + at.cp;
      return {merged % s.ep, merged / s.ep, at.tp, 0};
    }
    case EpOf::kTpDpMoe: {
      const int64_t merged = at.dp * s.tp + at.tp;
      return {merged / s.moe_tp, 0, merged % s.moe_tp, 0};
    }
    case EpOf::kTpDp: {
      const int64_t merged = at.dp * s.tp + at.tp;
      return {merged % s.ep, merged / s.ep, 0, 0};
    }
  }
  return {};
}

using PlaceKey = std::array<int64_t, 5>;

// Groups of ranks with the same key; those of one rank are no groups.
template <typename KeyOf>
void AddGroups(const Strategy& strategy, std::string token, KeyOf&& key_of,
               std::vector<ParallelGroup>& out) {
  std::map<PlaceKey, std::vector<int64_t>> members;
  for (int64_t rank = 0; rank < strategy.World(); ++rank) {
    members[key_of(PlaceOf(strategy, rank))].push_back(rank);
  }
  std::vector<std::vector<int64_t>> groups;
  for (auto& [key, ranks] : members) {
    if (ranks.size() > 1) groups.push_back(std::move(ranks));
  }
  std::sort(groups.begin(), groups.end());
  for (size_t i = 0; i < groups.size(); ++i) {
    out.push_back({token, static_cast<int64_t>(i), std::move(groups[i])});
  }
}

}  // namespace

std::vector<std::string> Algorithms() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : kAlgorithms) names.emplace_back(algorithm.name);
  return names;
}

Status CheckStrategy(const Strategy& s, int64_t ranks) {
  const Algorithm* algorithm = FindAlgorithm(s.algorithm);
  if (algorithm == nullptr) return Broken(fmt::format("'{}' is no algorithm known", s.algorithm));
  constexpr int64_t kLargest = 10000;
  constexpr int64_t kMostRanks = 100000;
  for (const auto& [name, size] : {std::pair("pp", s.pp),
                                   {"tp", s.tp},
                                   {"cp", s.cp},
                                   {"dp", s.dp},
                                   {"ep", s.ep},
                                   {"moe_tp", s.moe_tp}}) {
    if (size < 1 || size > kLargest) {
      return Broken(fmt::format("{} is {}, expected 1 to {}", name, size, kLargest));
    }
  }
  if (s.World() > kMostRanks) return Broken(fmt::format("{} ranks are too many", s.World()));
  if (s.World() < ranks) {
    return Broken(fmt::format("PP {} x TP {} x CP {} x DP {} is {}, but there are {} ranks", s.pp,
                              s.tp, s.cp, s.dp, s.World(), ranks));
  }
  switch (algorithm->ep_of) {
    case EpOf::kDp:
      if (s.dp % s.ep != 0) return Broken("DP is not divisible by EP");
      break;
    case EpOf::kCpDp:
      if (s.cp * s.dp % s.ep != 0) return Broken("CP x DP is not divisible by EP");
      break;
    case EpOf::kTpDpMoe:
      if (s.tp * s.dp != s.moe_tp * s.ep) return Broken("TP x DP is not MoE-TP x EP");
      break;
    case EpOf::kTpDp:
      if (s.tp * s.dp % s.ep != 0) return Broken("TP x DP is not divisible by EP");
      break;
  }
  return {};
}

RankPlace PlaceOf(const Strategy& strategy, int64_t rank) {
  RankPlace place;
  for (const Dimension dimension : AlgorithmOf(strategy).order) {
    const int64_t size = SizeOf(strategy, dimension);
    IndexOf(place, dimension) = rank % size;
    rank /= size;
  }
  return place;
}

int64_t RankAt(const Strategy& strategy, const RankPlace& place) {
  RankPlace copy = place;
  int64_t rank = 0;
  int64_t stride = 1;
  for (const Dimension dimension : AlgorithmOf(strategy).order) {
    rank += IndexOf(copy, dimension) * stride;
    stride *= SizeOf(strategy, dimension);
  }
  return rank;
}

std::vector<ParallelGroup> ParallelGroups(const Strategy& s) {
  std::vector<ParallelGroup> out;
  // A token keeps the indices it does not name.
  const auto plain = [&](const char* token, bool tp, bool cp, bool dp, bool pp) {
    AddGroups(
        s, token,
        [&](const RankPlace& at) {
          return PlaceKey{tp ? 0 : at.tp, cp ? 0 : at.cp, dp ? 0 : at.dp, pp ? 0 : at.pp, 0};
        },
        out);
  };
  plain("tp", true, false, false, false);
  plain("cp", false, true, false, false);
  plain("dp", false, false, true, false);
  plain("pp", false, false, false, true);
  plain("dp-cp", false, true, true, false);
  plain("tp-pp", true, false, false, true);
  plain("tp-dp-cp", true, true, true, false);
  plain("tp-dp", true, false, true, false);
  plain("tp-cp", true, true, false, false);
  if (s.ep == 1) return out;
  const auto expert = [&](const char* token, bool tp, bool cp, bool ep, bool rest, bool pp) {
    AddGroups(
        s, token,
        [&](const RankPlace& at) {
          const ExpertPlace e = ExpertOf(s, at);
          return PlaceKey{tp ? 0 : e.tp, cp ? 0 : e.cp, ep ? 0 : e.ep, rest ? 0 : e.rest,
                          pp ? 0 : at.pp};
        },
        out);
  };
  expert("ep", false, false, true, false, false);
  expert("tp-ep", true, false, true, false, false);
  expert("ep_dp", false, false, false, true, false);
  expert("ep_dp-cp", false, true, false, true, false);
  expert("tp-ep-pp", true, false, true, false, true);
  return out;
}

}  // namespace steplens::analysis
