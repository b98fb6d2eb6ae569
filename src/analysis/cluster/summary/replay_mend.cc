#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/cluster/summary/replay.h"
#include "analysis/time_math.h"

// How long ranks would work if nothing were wrong with them.

namespace steplens::analysis::cluster {
namespace {

int64_t MiddleOf(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

int64_t Scaled(int64_t ns, double factor) {
  return static_cast<int64_t>(static_cast<double>(ns) * factor);
}

}  // namespace

// Ranks that do the same tell how long it takes.
void Replay::MendByPeers(const Positions& suspects, const Positions& peers, bool same_stage) {
  const size_t count = ranks_[suspects[0]].calls.size();
  std::vector<int64_t> values;
  for (const size_t r : peers)
    values.push_back(same_stage ? ranks_[r].first.gap_ns : ranks_[r].first_work_ns);
  const int64_t first_ns = MiddleOf(values);
  for (const size_t r : suspects) {
    Rank& rank = ranks_[r];
    rank.first.mended_ns =
        same_stage ? first_ns : rank.first.gap_ns - rank.first_work_ns + first_ns;
  }
  for (size_t k = 0; k < count; ++k) {
    for (const size_t r : suspects) {
      for (Wait& wait : ranks_[r].calls[k].waits) {
        values.clear();
        for (const size_t peer : peers) {
          for (const Wait& theirs : ranks_[peer].calls[k].waits) {
            if (theirs.after == wait.after) values.push_back(theirs.gap_ns);
          }
        }
        if (!values.empty()) wait.mended_ns = MiddleOf(values);
      }
    }
  }
}

// Without such ranks, those of other stages tell, wherever they go from the same kind of call to
// the same other for the same time in a step; what is left over is shortened in proportion.
void Replay::MendByLikes(const Positions& suspects, const Positions& good) {
  using Label = std::tuple<uint32_t, bool, uint32_t, uint32_t>;
  const auto for_each_label = [&](Rank& rank, const auto& use) {
    std::map<std::tuple<uint32_t, uint32_t, bool, uint32_t>, uint32_t> seen;
    for (Member& member : rank.calls) {
      if (member.waits.empty()) continue;
      Wait& wait = member.waits[member.binding];
      const uint32_t from = rank.calls[wait.after.index].kind;
      const uint32_t n = seen[{member.step, from, wait.after.is_end, member.kind}]++;
      use(Label{from, wait.after.is_end, member.kind, n}, wait);
    }
  };
  std::map<Label, std::vector<int64_t>> gaps_ns;
  for (const size_t r : good)
    for_each_label(ranks_[r],
                   [&](const Label& label, Wait& wait) { gaps_ns[label].push_back(wait.gap_ns); });
  std::map<Label, int64_t> usual_ns;
  for (auto& [label, values] : gaps_ns) usual_ns[label] = MiddleOf(std::move(values));
  for (const size_t r : suspects) {
    Rank& rank = ranks_[r];
    int64_t known_ns = 0;
    int64_t known_usual_ns = 0;
    for_each_label(rank, [&](const Label& label, Wait& wait) {
      const auto found = usual_ns.find(label);
      if (found == usual_ns.end()) return;
      known_ns = AddNs(known_ns, wait.gap_ns);
      known_usual_ns += found->second;
    });
    const double factor =
        known_ns > 0 ? static_cast<double>(known_usual_ns) / static_cast<double>(known_ns) : 1;
    for (Member& member : rank.calls) {
      for (Wait& wait : member.waits) wait.mended_ns = Scaled(wait.gap_ns, factor);
    }
    for_each_label(rank, [&](const Label& label, Wait& wait) {
      const auto found = usual_ns.find(label);
      if (found != usual_ns.end()) wait.mended_ns = found->second;
    });
    rank.first.mended_ns =
        rank.first.gap_ns - rank.first_work_ns + Scaled(rank.first_work_ns, factor);
  }
}

// Work of experts as if all had the same tokens.
void Replay::MendEvenly(const Positions& alike) {
  for (size_t k = 0; k < ranks_[alike[0]].calls.size(); ++k) {
    int64_t sum_ns = 0;
    int64_t count = 0;
    for (const size_t r : alike) {
      const Member& member = ranks_[r].calls[k];
      if (member.waits.empty()) continue;
      const Wait& wait = member.waits[member.binding];
      if (!IsExpertWork(ranks_[r], member, wait)) continue;
      sum_ns = AddNs(sum_ns, wait.gap_ns);
      ++count;
    }
    if (count == 0) continue;
    for (const size_t r : alike) {
      Member& member = ranks_[r].calls[k];
      if (member.waits.empty()) continue;
      Wait& wait = member.waits[member.binding];
      if (IsExpertWork(ranks_[r], member, wait)) wait.mended_ns = sum_ns / count;
    }
  }
}

void Replay::Mend(const std::vector<ReplayFault>& faults) {
  std::set<int64_t> suspected;
  bool is_uneven = false;
  for (const ReplayFault& fault : faults) {
    is_uneven |= fault.is_uneven;
    if (!fault.is_uneven) suspected.insert(fault.ranks.begin(), fault.ranks.end());
  }
  Positions all_good;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    for (Member& member : ranks_[r].calls) {
      for (Wait& wait : member.waits) wait.mended_ns = wait.gap_ns;
    }
    ranks_[r].first.mended_ns = ranks_[r].first.gap_ns;
    if (!suspected.contains(ranks_[r].info.rank)) all_good.push_back(r);
  }
  for (const Positions& alike : classes_) {
    if (is_uneven) MendEvenly(alike);
    Positions suspects;
    Positions good;
    for (const size_t r : alike)
      (suspected.contains(ranks_[r].info.rank) ? suspects : good).push_back(r);
    if (suspects.empty()) continue;
    const bool same_stage = !good.empty();
    if (!same_stage) {  // others may do the same
      for (const size_t r : all_good) {
        if (ranks_[r].sequence == ranks_[suspects[0]].sequence) good.push_back(r);
      }
    }
    if (!good.empty()) {
      MendByPeers(suspects, good, same_stage);
    } else {
      MendByLikes(suspects, all_good);
    }
  }
}

}  // namespace steplens::analysis::cluster
