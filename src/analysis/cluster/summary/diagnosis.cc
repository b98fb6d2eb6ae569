#include "analysis/cluster/summary/diagnosis.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "analysis/advice/rules/job_rules.h"
#include "analysis/cluster/summary/replay.h"
#include "analysis/cluster/summary/robust.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

constexpr double kMinLinkCost = 0.001;  // of a step: a slow link that nobody feels
constexpr double kMinLateCost = 0.005;  // of a step: a slow rank that nobody waits for
constexpr size_t kMostReplayed = 24;    // faults, the largest by their waits; nobody mends more

// A finding with what a replay needs to know of it.
struct Suspect {
  Diagnosed found;
  ReplayFault fault;
  double least_cost = 0;  // share of a step

  double CostMs() const { return found.finding.saving->Best(); }
};

// "hcom_reduceScatter" is "reduce-total" in the matrix.
bool IsOfKind(const JobCall& call, const std::string& matrix_op) {
  const std::string kind = matrix_op.substr(0, matrix_op.rfind('-'));
  if (call.is_p2p) return kind == "send" || kind == "receive" || kind == "batchsendrecv";
  std::string op = call.op.substr(call.op.starts_with("hcom_") ? 5 : 0);
  for (char& c : op) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return op.starts_with(kind);
}

bool HasMember(const JobCall& call, int64_t rank) {
  return std::any_of(call.members.begin(), call.members.end(),
                     [&](const CallMember& member) { return member.rank == rank; });
}

class Diagnosis {
 public:
  Diagnosis(const JobFacts& job, std::vector<RankLoad>& loads)
      : job_(job), loads_(loads), step_ms_(UsualStepMs(loads)) {
    for (size_t c = 0; c < job.calls.size(); ++c) calls_of_[job.calls[c].group].push_back(c);
  }

  std::vector<Diagnosed> Run() {
    Replay replay(job_.calls, ReplayRanks(), job_.dimensions, job_.steps);
    if (replay.is_sound()) TakeExpertWork(replay);
    SuspectLinks();
    for (Suspect& suspect : suspects_) LimitToExposed(suspect.found.finding);
    const bool links_are_slow = !suspects_.empty();
    SuspectRanks(links_are_slow);
    // Nobody knows what ranks that were not captured would have done.
    if (replay.is_sound() && job_.is_complete) SetCosts(replay);
    std::stable_sort(suspects_.begin(), suspects_.end(),
                     [](const Suspect& a, const Suspect& b) { return a.CostMs() > b.CostMs(); });
    std::vector<Diagnosed> out;
    for (Suspect& suspect : suspects_) {
      if (step_ms_ > 0 && suspect.CostMs() < suspect.least_cost * step_ms_) continue;
      SetPlace(suspect);
      out.push_back(std::move(suspect.found));
    }
    return out;
  }

 private:
  std::vector<ReplayRank> ReplayRanks() const {
    std::vector<ReplayRank> out;
    for (const RankLoad& load : loads_) {
      const auto offset = job_.offsets_ns.find(load.rank);
      if (!load.has_calls || offset == job_.offsets_ns.end()) continue;
      constexpr double kAbsurdNs = 9e18;
      const double own_ns = (load.computing_ms + load.free_ms) * 1e6;
      if (!(std::fabs(own_ns) < kAbsurdNs)) continue;  // not known, or more than a capture can have
      out.push_back(
          {load.rank, load.at ? load.at->pp : 0, offset->second, static_cast<int64_t>(own_ns)});
    }
    return out;
  }

  void TakeExpertWork(const Replay& replay) {
    const std::map<int64_t, double> work_ms = replay.ExpertWorkMs();
    for (RankLoad& load : loads_) {
      const auto found = work_ms.find(load.rank);
      if (found != work_ms.end()) load.expert_ms = found->second;
    }
  }

  void SuspectLinks() {
    const std::vector<SmallPackets> small = FindSmallPackets(job_.packets, job_.steps);
    for (const SmallPackets& found : small)
      suspects_.push_back({{MakeFinding(found)}, SlowTransfers(found), kMinLinkCost});
    for (const SlowLink& link : FindSlowLinks(job_.links, job_.steps)) {
      const bool is_explained =
          std::any_of(small.begin(), small.end(),
                      [&](const SmallPackets& found) { return Explains(found, link); });
      if (is_explained || link.lost_ms < kMinLinkCost * step_ms_) continue;
      suspects_.push_back({{MakeFinding(link)}, SlowTransfers(link), kMinLinkCost});
    }
  }

  void SuspectRanks(bool links_are_slow) {
    const std::vector<LateGroup> late = FindLateRanks(loads_);
    std::map<int64_t, double> excess_ms;  // of a rank, over all it is named for
    for (const LateGroup& group : late) {
      for (const int64_t rank : group.ranks) excess_ms[rank] += group.excess_ms;
    }
    for (const LateGroup& group : late) {
      // Slow transfers are named as links. Where no link is slow for its kind, those that transfer
      // longer have groups that reach over more hosts than others': that is no fault.
      if (group.reason == LateReason::kTransfers && !job_.links.empty()) continue;
      if (group.reason == LateReason::kUnknown && links_are_slow) continue;
      if (!MayBlame(group)) continue;
      ReplayFault fault;
      fault.ranks = group.ranks;
      fault.is_uneven = group.reason == LateReason::kExperts;
      if (fault.is_uneven) {  // those with less to do get more
        fault.ranks.clear();
        for (const RankLoad& load : loads_) {
          if (load.expert_ms > 0) fault.ranks.push_back(load.rank);
        }
      } else if (const double all_ms = excess_ms[group.ranks.front()]; all_ms > 0) {
        fault.share = group.excess_ms / all_ms;
      }
      const bool is_computing = group.reason == LateReason::kComputing;
      const auto [own_ms, peers_ms] = WaitsOf(group);
      suspects_.push_back(
          {{MakeFinding(group, own_ms, peers_ms), is_computing}, std::move(fault), kMinLateCost});
    }
  }

  // What the ranks of a group wait per step, and what the others do: medians, in ms.
  std::pair<double, double> WaitsOf(const LateGroup& group) const {
    const std::set<int64_t> late(group.ranks.begin(), group.ranks.end());
    std::vector<double> own_ms;
    std::vector<double> peers_ms;
    for (const RankLoad& load : loads_)
      (late.contains(load.rank) ? own_ms : peers_ms).push_back(load.suffered_ms);
    return {Median(std::move(own_ms)), Median(std::move(peers_ms))};
  }

  // Where ranks are missing, or may be, one of those may be the late one. Who is seen to work
  // longer than most of the job may be named all the same; who only waits less, or less than one of
  // few, may not.
  bool MayBlame(const LateGroup& group) const {
    if (job_.is_complete && job_.are_sizes_known) return true;
    const bool does_more = group.reason == LateReason::kComputing ||
                           group.reason == LateReason::kHost ||
                           group.reason == LateReason::kExperts;
    return does_more &&
           (job_.is_complete || 2 * static_cast<int64_t>(loads_.size()) > job_.ranks_expected);
  }

  // Transfers that computing hides cost nothing: no more can be saved than the ranks' communication
  // that nothing hides, where their steps say how much that is.
  void LimitToExposed(Finding& finding) const {
    double most_ms = 0;
    for (const RankLoad& load : loads_) {
      const bool is_meant =
          std::find(finding.ranks.begin(), finding.ranks.end(), load.rank) != finding.ranks.end();
      if (is_meant && load.step_ms <= 0) return;
      if (is_meant) most_ms = std::max(most_ms, load.exposed_ms);
    }
    finding.saving->at_most_ms = std::min(finding.saving->at_most_ms, most_ms);
  }

  // What the calls over slow links take longer: in each as much as the slowest of its links.
  ReplayFault SlowTransfers(const SlowLink& link) const {
    ReplayFault fault;
    for (const LinkExtra& extra : link.extras) {
      const auto group = calls_of_.find(extra.group);
      if (group == calls_of_.end()) continue;
      std::vector<size_t> calls;
      for (const size_t c : group->second) {
        const JobCall& call = job_.calls[c];
        if (IsOfKind(call, extra.op) && HasMember(call, extra.src) &&
            (!call.is_p2p || HasMember(call, extra.dst))) {
          calls.push_back(c);
        }
      }
      for (const size_t c : calls) {
        int64_t& longest_ns = fault.transfers_ns[c];
        longest_ns = std::max(
            longest_ns, static_cast<int64_t>(extra.ms * 1e6 / static_cast<double>(calls.size())));
      }
    }
    return fault;
  }

  ReplayFault SlowTransfers(const SmallPackets& small) const {
    ReplayFault fault;
    for (size_t c = 0; c < job_.calls.size(); ++c) {
      const JobCall& call = job_.calls[c];
      if (call.small_ns > 0 && call.small_transport == small.transport)
        fault.transfers_ns[c] = call.small_ns;
    }
    return fault;
  }

  void SetCosts(Replay& replay) {
    std::stable_sort(suspects_.begin(), suspects_.end(),
                     [](const Suspect& a, const Suspect& b) { return a.CostMs() > b.CostMs(); });
    if (suspects_.size() > kMostReplayed) {
      suspects_.erase(suspects_.begin() + static_cast<int64_t>(kMostReplayed), suspects_.end());
    }
    std::vector<ReplayFault> faults;
    for (const Suspect& suspect : suspects_) faults.push_back(suspect.fault);
    const std::vector<ReplayCost> costs = replay.CostsOf(faults);
    double largest_ms = 0;
    for (const ReplayCost& cost : costs) largest_ms = std::max(largest_ms, cost.ms);
    constexpr double kMuchLarger = 1.25;
    constexpr double kFelt = 0.5;
    for (size_t i = 0; i < suspects_.size(); ++i) {
      Finding& finding = suspects_[i].found.finding;
      finding.saving = Saving{costs[i].ms, costs[i].ms};
      finding.confidence = Confidence::kMeasured;
      finding.is_hidden =
          largest_ms > kMuchLarger * costs[i].ms && costs[i].mending_ms < kFelt * costs[i].ms;
    }
  }

  // Where to look: at the call that lost most, on the rank that lost it; of late ranks, at the call
  // that the others waited for longest, with the time before in which the rank was late.
  void SetPlace(Suspect& suspect) const {
    Finding& finding = suspect.found.finding;
    const std::set<int64_t> ranks(finding.ranks.begin(), finding.ranks.end());
    int64_t most_ns = 0;
    const auto look = [&](int64_t ns, const CallMember& member, int64_t before_ns) {
      if (ns <= most_ns || member.start_ns == store::kNone) return;
      most_ns = ns;
      finding.places = {
          {member.rank,
           {AddNs(member.start_ns, -before_ns), EndNs(member.start_ns, member.dur_ns)},
           store::kNoSlice,
           ""}};
    };
    if (!IsLate(finding.rule)) {
      for (const auto& [c, lost_ns] : suspect.fault.transfers_ns) {
        for (const CallMember& member : job_.calls[c].members) {
          if (ranks.contains(member.rank)) look(lost_ns, member, 0);
        }
      }
      return;
    }
    for (const JobCall& call : job_.calls) {
      int64_t longest_ns = 0;
      for (const CallMember& member : call.members)
        longest_ns = std::max(longest_ns, member.dur_ns);
      for (const CallMember& member : call.members) {
        const int64_t waited_ns = longest_ns - member.dur_ns;
        if (ranks.contains(member.rank)) look(waited_ns, member, waited_ns);
      }
    }
  }

  const JobFacts& job_;
  std::vector<RankLoad>& loads_;
  double step_ms_;
  std::map<std::string, std::vector<size_t>> calls_of_;  // by group
  std::vector<Suspect> suspects_;
};

}  // namespace

double UsualStepMs(const std::vector<RankLoad>& loads) {
  std::vector<double> times_ms;
  for (const RankLoad& load : loads) times_ms.push_back(load.step_ms);
  return Median(std::move(times_ms));
}

std::vector<Diagnosed> Diagnose(const JobFacts& job, std::vector<RankLoad>& loads) {
  return Diagnosis(job, loads).Run();
}

}  // namespace steplens::analysis::cluster
