#include "analysis/cluster/summary/replay.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "analysis/cluster/summary/robust.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

constexpr size_t kLookBack = 16;  // calls that may still run when another starts
constexpr double kSoundWithin = 0.02;
constexpr int64_t kSameTimeNs = 5'000;  // captures round, and clocks are set right not quite

// Gradients and parameters travel behind computing where frameworks can.
bool MayHide(const std::string& dimension) { return dimension.find("dp") != dimension.npos; }

bool IsExpert(const std::string& dimension) {
  return dimension.find("exp") != dimension.npos || dimension == "ep";
}

}  // namespace

Replay::Replay(const std::vector<JobCall>& calls, const std::vector<ReplayRank>& ranks,
               const std::map<std::string, std::string>& dimensions, size_t steps)
    : steps_(std::max<size_t>(steps, 1)) {
  FillRanks(calls, ranks, dimensions);
  std::map<std::pair<int64_t, std::vector<uint32_t>>, Positions> classes;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    std::vector<uint32_t> kinds;
    for (const Member& member : ranks_[r].calls) kinds.push_back(member.kind);
    if (!kinds.empty()) classes[{ranks_[r].info.stage, std::move(kinds)}].push_back(r);
  }
  std::map<std::vector<uint32_t>, size_t> sequences;
  for (auto& [key, alike] : classes) {
    const size_t sequence = sequences.try_emplace(key.second, sequences.size()).first->second;
    for (const size_t r : alike) ranks_[r].sequence = sequence;
    classes_.push_back(std::move(alike));
  }
  // Where one rank goes on while a call runs, nobody that does the same waits for its end.
  std::map<std::pair<size_t, size_t>, std::set<uint32_t>> running;  // by sequence and position
  for (const Rank& rank : ranks_) {
    for (size_t k = 1; k < rank.calls.size(); ++k) {
      const Event last = LastEvent(rank, k);
      if (!last.is_end) running[{rank.sequence, k}].insert(last.index);
    }
  }
  for (const Positions& alike : classes_) {
    const Rank& first = ranks_[alike[0]];
    for (size_t k = 1; k < first.calls.size(); ++k)
      FillWaits(alike, k, running[{first.sequence, k}]);
  }
  int64_t last_ns = 0;
  for (Rank& rank : ranks_) {
    FillFirst(rank);
    for (const Member& member : rank.calls) last_ns = std::max(last_ns, member.end_ns);
  }
  BuildGraph();
  const std::vector<ReplayFault> no_faults;
  const std::vector<bool> none;
  const int64_t replayed_ns = Run(no_faults, none);
  const auto error_ns = std::abs(static_cast<double>(replayed_ns) - static_cast<double>(last_ns));
  is_sound_ = last_ns > 0 && error_ns <= kSoundWithin * static_cast<double>(last_ns);
}

void Replay::FillRanks(const std::vector<JobCall>& calls, const std::vector<ReplayRank>& ranks,
                       const std::map<std::string, std::string>& dimensions) {
  std::map<int64_t, uint32_t> place;
  for (const ReplayRank& rank : ranks) {
    place[rank.rank] = static_cast<uint32_t>(ranks_.size());
    ranks_.push_back(
        {.info = rank, .calls = {}, .zero_ns = 0, .first = {}, .first_work_ns = 0, .sequence = 0});
  }
  std::map<std::pair<std::string, std::string>, uint32_t> kinds;
  std::map<std::string, uint32_t> step_numbers;
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  for (uint32_t c = 0; c < calls.size(); ++c) {
    const JobCall& call = calls[c];
    const auto named = dimensions.find(call.group);
    const std::string dimension = named == dimensions.end() ? "" : named->second;
    const auto [kind, is_new] =
        kinds.try_emplace({dimension, call.is_p2p ? "p2p" : call.op}, kinds.size());
    if (is_new) {
      is_expert_kind_.push_back(IsExpert(dimension));
      may_hide_kind_.push_back(MayHide(dimension));
    }
    const uint32_t step = step_numbers.try_emplace(call.step, step_numbers.size()).first->second;
    Call& entry = calls_.emplace_back();
    entry.transfer_ns = std::numeric_limits<int64_t>::max();
    for (const CallMember& member : call.members) {
      const auto at = place.find(member.rank);
      if (at == place.end()) continue;
      Rank& rank = ranks_[at->second];
      const int64_t start_ns = AddNs(member.start_ns, rank.info.offset_ns);
      first_ns = std::min(first_ns, start_ns);
      rank.calls.push_back({.call = c,
                            .kind = kind->second,
                            .step = step,
                            .start_ns = start_ns,
                            .end_ns = EndNs(start_ns, member.dur_ns),
                            .waits = {},
                            .binding = 0});
      entry.transfer_ns = std::min(entry.transfer_ns, member.dur_ns);
    }
  }
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    std::vector<Member>& own = ranks_[r].calls;
    std::stable_sort(own.begin(), own.end(), [](const Member& a, const Member& b) {
      return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
    });
    for (uint32_t i = 0; i < own.size(); ++i) {
      own[i].start_ns = SubtractSaturating(own[i].start_ns, first_ns);
      own[i].end_ns = SubtractSaturating(own[i].end_ns, first_ns);
      Call& call = calls_[own[i].call];
      call.members.emplace_back(r, i);
    }
  }
  for (const Call& call : calls_) used_calls_ += call.members.empty() ? 0 : 1;
}

int64_t Replay::TimeOf(const Rank& rank, const Event& event) const {
  const Member& call = rank.calls[event.index];
  return event.is_end ? call.end_ns : call.start_ns;
}

// The last that happened on the rank before a call: the end of another, or the start of one that is
// still running.
Replay::Event Replay::LastEvent(const Rank& rank, size_t position) const {
  const int64_t start_ns = rank.calls[position].start_ns;
  Event last;
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  for (size_t i = position - std::min(position, kLookBack); i < position; ++i) {
    const Event event{static_cast<uint32_t>(i), rank.calls[i].end_ns <= start_ns + kSameTimeNs};
    if (TimeOf(rank, event) < last_ns) continue;
    last = event;
    last_ns = TimeOf(rank, event);
  }
  return last;
}

void Replay::FillWaits(const Positions& alike, size_t position, const std::set<uint32_t>& running) {
  std::set<Event> events;
  for (const size_t r : alike) {
    Event last = LastEvent(ranks_[r], position);
    last.is_end &= !running.contains(last.index);
    events.insert(last);
  }
  std::vector<Event> binding;  // parallel to alike: the last of the events
  for (const size_t r : alike) {
    const int64_t start_ns = ranks_[r].calls[position].start_ns;
    const Event* last = nullptr;
    for (const Event& event : events) {
      const int64_t at_ns = TimeOf(ranks_[r], event);
      if (at_ns <= start_ns + kSameTimeNs && (last == nullptr || at_ns >= TimeOf(ranks_[r], *last)))
        last = &event;
    }
    binding.push_back(last == nullptr ? *events.begin() : *last);
  }
  // A call that runs behind computing: for those who start well after its end, the computing that
  // began with it took longer.
  for (const Event event : std::vector<Event>(events.begin(), events.end())) {
    if (!event.is_end || !may_hide_kind_[ranks_[alike[0]].calls[event.index].kind]) continue;
    int64_t least_ns = std::numeric_limits<int64_t>::max();
    const auto gap = [&](size_t i) {
      const Rank& rank = ranks_[alike[i]];
      return rank.calls[position].start_ns - TimeOf(rank, event);
    };
    for (size_t i = 0; i < alike.size(); ++i) {
      if (binding[i] == event) least_ns = std::min(least_ns, gap(i));
    }
    const int64_t well_after_ns =
        least_ns == std::numeric_limits<int64_t>::max()
            ? least_ns
            : least_ns + std::max<int64_t>(least_ns, 200'000) / 20 + 20'000;
    for (size_t i = 0; i < alike.size(); ++i) {
      if (binding[i] != event || gap(i) <= well_after_ns) continue;
      binding[i] = {event.index, false};
      events.insert(binding[i]);
    }
  }
  // Whom an event did not hold up, those tell of it whom it did: in proportion to their work.
  const auto work = [&](size_t i) {
    return static_cast<double>(std::max<int64_t>(ranks_[alike[i]].info.work_ns, 1));
  };
  std::map<Event, double> usual;
  for (const Event& event : events) {
    std::vector<double> shares;
    for (size_t i = 0; i < alike.size(); ++i) {
      const Rank& rank = ranks_[alike[i]];
      if (binding[i] == event)
        shares.push_back(static_cast<double>(rank.calls[position].start_ns - TimeOf(rank, event)) /
                         work(i));
    }
    if (!shares.empty()) usual[event] = Median(std::move(shares));
  }
  for (size_t i = 0; i < alike.size(); ++i) {
    Rank& rank = ranks_[alike[i]];
    Member& call = rank.calls[position];
    for (const auto& [event, share] : usual) {
      int64_t gap_ns = call.start_ns - TimeOf(rank, event);
      if (event == binding[i]) {
        call.binding = static_cast<uint32_t>(call.waits.size());
      } else {
        gap_ns = std::min(gap_ns, static_cast<int64_t>(share * work(i)));
      }
      call.waits.push_back({event, gap_ns, gap_ns});
    }
  }
}

// How long a rank works before its first call shows in the steps after the first. Of one step it is
// the work that is not between calls, and only when it was done compares with other ranks.
void Replay::FillFirst(Rank& rank) const {
  if (rank.calls.empty()) return;
  int64_t between_ns = 0;
  for (const Member& member : rank.calls) {
    if (member.waits.empty()) continue;
    const int64_t gap_ns = member.waits[member.binding].gap_ns;
    between_ns = AddNs(between_ns, gap_ns);
    if (member.step == rank.calls[0].step) continue;
    rank.first_work_ns = rank.first.gap_ns = gap_ns;
    rank.zero_ns = SubtractSaturating(rank.calls[0].start_ns, gap_ns);
    rank.first.mended_ns = gap_ns;
    return;
  }
  rank.first_work_ns = std::max<int64_t>(SubtractSaturating(rank.info.work_ns, between_ns), 0);
  rank.first.mended_ns = rank.first.gap_ns = rank.calls[0].start_ns;
}

bool Replay::IsExpertWork(const Rank& rank, const Member& member, const Wait& wait) const {
  return wait.after.is_end && is_expert_kind_[member.kind] &&
         is_expert_kind_[rank.calls[wait.after.index].kind];
}

std::map<int64_t, double> Replay::ExpertWorkMs() const {
  std::map<int64_t, double> out;
  for (const Rank& rank : ranks_) {
    int64_t sum_ns = 0;
    for (const Member& member : rank.calls) {
      if (member.waits.empty()) continue;
      const Wait& wait = member.waits[member.binding];
      if (IsExpertWork(rank, member, wait)) sum_ns = AddNs(sum_ns, wait.gap_ns);
    }
    if (sum_ns > 0)
      out[rank.info.rank] = static_cast<double>(sum_ns) / 1e6 / static_cast<double>(steps_);
  }
  return out;
}

int64_t Replay::Transfer(size_t call, const std::vector<ReplayFault>& faults,
                         const std::vector<bool>& is_mended) const {
  int64_t longest_ns = 0;
  int64_t longest_left_ns = 0;
  for (size_t f = 0; f < faults.size(); ++f) {
    const auto found = faults[f].transfers_ns.find(call);
    if (found == faults[f].transfers_ns.end()) continue;
    longest_ns = std::max(longest_ns, found->second);
    if (!is_mended[f]) longest_left_ns = std::max(longest_left_ns, found->second);
  }
  return std::max<int64_t>(0, calls_[call].transfer_ns - longest_ns + longest_left_ns);
}

// The points of the schedule: the begin of all, the start of each rank's part in a call, the end of
// each call. Edges in the order in which Run weighs them.
void Replay::BuildGraph() {
  uint32_t points = 1;
  std::vector<uint32_t> first_start;  // by rank
  for (const Rank& rank : ranks_) {
    first_start.push_back(points);
    points += static_cast<uint32_t>(rank.calls.size());
  }
  const uint32_t first_end = points;
  points += static_cast<uint32_t>(calls_.size());
  std::vector<uint32_t> from;
  std::vector<uint32_t> to;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    const std::vector<Member>& own = ranks_[r].calls;
    for (uint32_t i = 0; i < own.size(); ++i) {
      const uint32_t start = first_start[r] + i;
      if (i == 0) {
        from.push_back(0);
        to.push_back(start);
      }
      for (const Wait& wait : own[i].waits) {
        from.push_back(wait.after.is_end ? first_end + own[wait.after.index].call
                                         : first_start[r] + wait.after.index);
        to.push_back(start);
      }
      from.push_back(start);
      to.push_back(first_end + own[i].call);
    }
  }
  graph_ = DependencyGraph(points, std::move(from), std::move(to));
}

int64_t Replay::Run(const std::vector<ReplayFault>& faults,
                    const std::vector<bool>& is_mended) const {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  if (used_calls_ == 0 || !graph_.is_acyclic()) return kNever;
  std::map<int64_t, double> shares;  // by rank: of what mending takes away
  bool has_transfers = false;
  for (size_t f = 0; f < faults.size(); ++f) {
    has_transfers |= !faults[f].transfers_ns.empty();
    if (!is_mended[f]) continue;
    for (const int64_t rank : faults[f].ranks) shares[rank] += faults[f].share;
  }
  std::vector<int64_t> transfers_ns(calls_.size());
  for (size_t c = 0; c < calls_.size(); ++c)
    transfers_ns[c] = has_transfers ? Transfer(c, faults, is_mended) : calls_[c].transfer_ns;
  std::vector<int64_t> weights;
  weights.reserve(graph_.edges());
  for (const Rank& rank : ranks_) {
    const auto found = shares.find(rank.info.rank);
    const double share = found == shares.end() ? 0 : std::min(1.0, found->second);
    const auto lasts = [&](const Wait& wait) {
      const auto longer_ns = static_cast<double>(wait.gap_ns - wait.mended_ns);
      return wait.gap_ns - static_cast<int64_t>(longer_ns * share);
    };
    for (size_t i = 0; i < rank.calls.size(); ++i) {
      if (i == 0) weights.push_back(rank.zero_ns + lasts(rank.first));
      for (const Wait& wait : rank.calls[i].waits) weights.push_back(lasts(wait));
      weights.push_back(transfers_ns[rank.calls[i].call]);
    }
  }
  const std::vector<int64_t> at = graph_.Earliest(weights);
  const size_t first_end = graph_.points() - calls_.size();
  int64_t last_ns = kNever;
  for (size_t c = 0; c < calls_.size(); ++c) {
    if (!calls_[c].members.empty()) last_ns = std::max(last_ns, at[first_end + c]);
  }
  return last_ns;
}

std::vector<ReplayCost> Replay::CostsOf(const std::vector<ReplayFault>& faults) {
  Mend(faults);
  const auto ms = [&](int64_t ns) {
    return static_cast<double>(ns) / 1e6 / static_cast<double>(steps_);
  };
  const std::vector<bool> none(faults.size(), false);
  const std::vector<bool> all(faults.size(), true);
  const int64_t now_ns = Run(faults, none);
  const int64_t healthy_ns = Run(faults, all);
  std::vector<ReplayCost> out;
  for (size_t f = 0; f < faults.size(); ++f) {
    std::vector<bool> others = all;
    others[f] = false;
    std::vector<bool> alone = none;
    alone[f] = true;
    out.push_back({ms(Run(faults, others) - healthy_ns), ms(now_ns - Run(faults, alone))});
  }
  return out;
}

}  // namespace steplens::analysis::cluster
