#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "analysis/advice/finding_table.h"
#include "analysis/advice/rules/job_rules.h"
#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/communication/local_ranks.h"
#include "analysis/cluster/core_clock.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/summary/diagnosis.h"
#include "analysis/cluster/summary/job_calls.h"
#include "analysis/cluster/summary/job_findings.h"
#include "analysis/cluster/summary/robust.h"
#include "analysis/cluster/summary/summary_part.h"
#include "analysis/cluster/summary/summary_tables.h"
#include "analysis/cluster/summary/wait_pairs.h"
#include "analysis/cluster/summary/waits.h"
#include "analysis/collectives/call_times.h"
#include "base/cancel.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using table::CellType;

constexpr double kNotKnownMs = std::numeric_limits<double>::quiet_NaN();

class Summary : public RecipeOf<SummaryPart> {
 public:
  explicit Summary(const Options& options) : options_(options) {}

  void SetTimelines(Timelines timelines) override { timelines_ = std::move(timelines); }

  void AddStore(const store::TraceStore& rank) {
    const RankFacts facts = DescribeRank(rank);
    AddRank(facts, MapWithFacts(rank, facts));
  }

  // What the ranks that were added come to.
  struct Judgement {
    double least_wait_ms = 0;
    std::vector<RankLoad> loads;
    std::vector<LinkTotal> links;
    JobFindings found;
  };
  Judgement Judge() {
    Judgement out;
    out.least_wait_ms = kLeastWait * UsualStepMs(loads_);
    ShareWaits(out.least_wait_ms);
    out.loads = Loads();
    out.links = Links();
    out.found.findings = Find(out.loads, out.links);
    out.found.step_ms = ShownStepMs(out.loads);
    const int64_t expected = ExpectedRanks(LayoutWorld());
    if (!is_complete_ && expected > ranks_) {
      out.found.warnings.push_back(
          {"warning.partly_captured",
           {{"captured", std::to_string(ranks_)}, {"members", std::to_string(expected)}}});
    } else if (!are_sizes_known_) {
      out.found.warnings.push_back({"warning.group_size_unknown"});
    }
    return out;
  }

  Result<Answer> Finish(Form) override {
    const auto [least_wait_ms, loads, links, found] = Judge();
    Answer answer;
    answer.findings = found.findings;
    answer.step_ms = found.step_ms;
    answer.tables.push_back(
        {ClusterFindingTable(answer.findings, answer.step_ms), "cluster_findings.csv"});
    answer.tables.push_back({RankScoreTable(loads), "cluster_rank_scores.csv"});
    answer.tables.push_back({WaitTable(), "cluster_wait_attribution.csv"});
    answer.tables.push_back({Overview(loads), "cluster_overview.csv"});
    answer.tables.push_back({LinkBandwidthTable(links), "cluster_link_bandwidth.csv"});
    answer.tables.push_back({pairs_.ToTable(steps_of_, least_wait_ms), "cluster_wait_pairs.csv"});
    answer.tables.push_back(
        {GroupWaitTable(group_waits_, book_, steps_), "cluster_group_wait.csv"});
    answer.tables.push_back({HostSumTable(loads), "cluster_host_sum.csv"});
    answer.tables.push_back({ParallelSumTable(loads), "cluster_parallel_sum.csv"});
    answer.tables.push_back({RankStepTable(RankSteps()), "cluster_rank_steps.csv"});
    answer.tables.push_back({HostLinkTable(links, loads), "cluster_host_links.csv"});
    return answer;
  }

 protected:
  SummaryPart MapWithFacts(const store::TraceStore& rank, const RankFacts& facts) const override {
    SummaryPart part = ReadSummary(rank, facts, options_);
    if (timelines_) part.computing_mhz = ReadComputingMhz(facts.rank);
    return part;
  }

  void AddRank(const RankFacts& facts, SummaryPart part) override {
    book_.Add(facts, part.links.used);
    for (const auto& [group, count] : part.group_sizes)
      group_sizes_[group] = std::max(group_sizes_[group], count);
    if (distributed_args_.empty()) distributed_args_ = facts.distributed_args;
    RankLoad load;
    load.rank = facts.rank;
    load.host = facts.host_name.empty() ? facts.host_uid : facts.host_name;
    double not_overlapped_ms = 0;
    double copies_ms = 0;
    for (const StepLoad& step : part.steps) {
      load.computing_ms += step.computing_us / 1000;
      load.free_ms += step.free_us / 1000;
      load.step_ms += step.DeviceUs() / 1000;
      not_overlapped_ms += step.not_overlapped_us / 1000;
      copies_ms += step.copies_us / 1000;
      rank_steps_.push_back({facts.rank, step.step, step.computing_us / 1000,
                             step.not_overlapped_us / 1000, step.free_us / 1000});
    }
    calls_.Add(facts.rank, part, book_);
    load.has_calls = !part.calls.empty();
    if (part.step_time_ns != kNone)
      load.step_time_ms = static_cast<double>(part.step_time_ns) / 1e6;
    const size_t count = std::max<size_t>(1, part.steps.size());
    steps_ = std::max(steps_, count);
    steps_of_[facts.rank] = count;
    load.exposed_ms = not_overlapped_ms;
    for (double* total : {&load.computing_ms, &load.free_ms, &load.step_ms, &load.exposed_ms})
      *total /= static_cast<double>(count);
    ++ranks_;
    // Of a rank that recorded marks only, nothing can be compared.
    if (load.has_calls || !part.steps.empty()) loads_.push_back(std::move(load));
    not_overlapped_ms_ += not_overlapped_ms / static_cast<double>(count);
    copies_ms_ += copies_ms / static_cast<double>(count);
    for (const PacketPart& packet : part.packets) {
      packets_.push_back({facts.rank, part.Text(packet.transport), packet.size_mb, packet.time_ms,
                          packet.packets_ms, packet.small_ms});
    }
    if (part.computing_mhz > 0) computing_mhz_[facts.rank] = part.computing_mhz;
    local_ranks_.Add(facts.rank, part.links);
    link_parts_.emplace_back(facts.rank, std::move(part.links));
  }

 private:
  std::string DimensionOf(const std::string& group) const {
    const GroupFact* fact = book_.FindFact(group);
    return fact == nullptr || fact->pg_name.empty() ? group : fact->pg_name;
  }

  void ShareWaits(double least_ms) {
    for (const JobCall& call : calls_.calls()) {
      const std::string dimension = DimensionOf(call.group);
      std::map<int64_t, WaitShare>& shares = waits_[dimension];
      const std::vector<CallTimes> times = Divide(call);
      const bool is_whole =
          !IsPartlySeen(call);  // else one who was not captured may have come last
      group_waits_.AddCall(call.group, call.members, times, is_whole);
      std::map<int64_t, WaitShare> arrivals;
      if (is_whole) {
        pairs_.AddCall(dimension, call.members, least_ms * 1e6);
        AttributeWaits(call.members, arrivals);
      }
      for (size_t i = 0; i < call.members.size(); ++i) {
        const int64_t rank = call.members[i].rank;
        WaitShare& share = shares[rank];
        CallTotals& totals = call_totals_[rank];
        totals.is_cause_known |= is_whole;
        if (times[i].source != TimesSource::kUnknown) {
          share.suffered_ns += static_cast<double>(times[i].wait_ns);
          totals.transit_ns += static_cast<double>(times[i].transit_ns);
          totals.are_times_known = true;
        }
        if (is_whole) share.caused_ns += arrivals[rank].caused_ns;
      }
    }
  }

  // The model's word on each member of a call.
  std::vector<CallTimes> Divide(const JobCall& call) const {
    CallPeers peers;
    peers.captured = static_cast<int64_t>(call.members.size());
    peers.members = call.is_p2p ? 2 : ExpectedMembers(call.group);
    peers.shortest_ns = call.members.front().dur_ns;
    for (const CallMember& member : call.members)
      peers.shortest_ns = std::min(peers.shortest_ns, member.dur_ns);
    std::vector<CallTimes> times;
    for (size_t i = 0; i < call.members.size(); ++i)
      times.push_back(DivideCall(call.members[i].dur_ns, call.recorded[i], peers));
    return times;
  }

  // With what each rank waited and moved in each step.
  std::vector<RankStep> RankSteps() {
    struct StepCalls {
      double wait_ms = 0;
      double transit_ms = 0;
      bool is_known = false;  // of one call at least
    };
    std::map<std::pair<int64_t, std::string>, StepCalls> calls_of_step;
    for (const JobCall& call : calls_.calls()) {
      const std::vector<CallTimes> times = Divide(call);
      for (size_t i = 0; i < times.size(); ++i) {
        StepCalls& own = calls_of_step[{call.members[i].rank, call.step}];
        if (times[i].source == TimesSource::kUnknown) continue;
        own.is_known = true;
        own.wait_ms += static_cast<double>(times[i].wait_ns) / 1e6;
        own.transit_ms += static_cast<double>(times[i].transit_ns) / 1e6;
      }
    }
    std::vector<RankStep> steps = rank_steps_;
    for (RankStep& one : steps) {
      const auto found = calls_of_step.find(
          {one.rank, one.step == kNone ? "" : "step" + std::to_string(one.step)});
      if (found == calls_of_step.end()) continue;
      const StepCalls& own = found->second;
      one.suffered_ms = own.is_known ? own.wait_ms : kNotKnownMs;
      one.transit_ms = own.is_known ? own.transit_ms : kNotKnownMs;
    }
    return steps;
  }

  // Members that metadata or links tell of; 0 if nobody does.
  int64_t ExpectedMembers(const std::string& group) const {
    const GroupFact* fact = book_.FindFact(group);
    const auto found = group_sizes_.find(group);
    return std::max<int64_t>(fact == nullptr ? 0 : static_cast<int64_t>(fact->ranks.size()),
                             found == group_sizes_.end() ? 0 : found->second);
  }

  bool IsPartlySeen(const JobCall& call) const {
    const int64_t expected = call.is_p2p ? 2 : ExpectedMembers(call.group);
    return expected > static_cast<int64_t>(call.members.size());
  }

  std::vector<RankLoad> Loads() const {
    std::vector<RankLoad> loads = loads_;
    std::string problem;
    const std::optional<ParallelLayout> layout =
        distributed_args_.empty() ? std::nullopt : ParseLayout(distributed_args_, problem);
    for (RankLoad& load : loads) {
      if (layout && load.rank < layout->world) load.at = CoordinatesOf(*layout, load.rank);
      const auto steps = static_cast<double>(steps_of_.at(load.rank));
      if (const auto totals = call_totals_.find(load.rank); totals != call_totals_.end()) {
        load.transit_ms = totals->second.transit_ns / 1e6 / steps;
        load.are_times_known = totals->second.are_times_known;
        load.is_cause_known = totals->second.is_cause_known;
      }
      for (const auto& [dimension, shares] : waits_) {
        const auto share = shares.find(load.rank);
        if (share == shares.end()) continue;
        load.suffered_ms += share->second.suffered_ns / 1e6 / steps;
        load.caused_ms += share->second.caused_ns / 1e6 / steps;
      }
    }
    return loads;
  }

  // Links between ranks whose numbers are known; the texts are those of link_parts_.
  std::vector<LinkTotal> Links() const {
    std::vector<LinkTotal> out;
    for (const auto& [rank, part] : link_parts_) {
      std::vector<const std::vector<int64_t>*> members(part.texts.size(), nullptr);  // by group
      for (const LinkRow& row : part.links) {
        if (row.group >= members.size()) continue;
        const std::vector<int64_t>*& of_group = members[row.group];
        if (of_group == nullptr) of_group = &MembersOf(part.Text(row.group));
        const auto global = [&](int64_t local) {
          return local >= 0 && local < static_cast<int64_t>(of_group->size())
                     ? (*of_group)[static_cast<size_t>(local)]
                     : kNone;
        };
        const LinkTotal link{global(row.src),     global(row.dst), part.Text(row.transport),
                             part.Text(row.op),   row.size_mb,     row.time_ms,
                             part.Text(row.group)};
        if (link.src != kNone && link.dst != kNone) out.push_back(link);
      }
    }
    return out;
  }

  // Groups repeat for every rank; unpacking them once each is enough.
  const std::vector<int64_t>& MembersOf(const std::string& group) const {
    const auto [place, is_new] = members_.try_emplace(group);
    if (is_new) place->second = local_ranks_.Of(group, book_, /*compat=*/false);
    return place->second;
  }

  std::vector<Finding> Find(std::vector<RankLoad>& loads, const std::vector<LinkTotal>& links) {
    std::map<std::string, std::string> dimensions;
    for (const GroupBook::Group& group : book_.groups()) dimensions[group.use.name] = group.pg_name;
    const std::vector<JobCall>& calls = calls_.calls();
    is_complete_ = std::none_of(calls.begin(), calls.end(),
                                [&](const JobCall& call) { return IsPartlySeen(call); });
    are_sizes_known_ = std::all_of(calls.begin(), calls.end(), [&](const JobCall& call) {
      return call.is_p2p || ExpectedMembers(call.group) > 0;
    });
    std::vector<Diagnosed> found =
        Diagnose({calls, calls_.offsets_ns(), dimensions, links, packets_, steps_, is_complete_,
                  are_sizes_known_, ExpectedRanks(LayoutWorld())},
                 loads);
    BlameClocks(loads, found);
    std::vector<Finding> findings;
    for (Diagnosed& one : found) {
      if (IsLate(one.finding.rule)) one.finding.felt_in = FeltIn(one.finding.ranks);
      findings.push_back(std::move(one.finding));
    }
    return findings;
  }

  double ReadComputingMhz(int64_t rank) const {
    const std::shared_ptr<const store::TraceStore> timeline = timelines_(rank);
    if (!timeline) return 0;
    return MeanMhz(MeasureClock(*timeline, FindStepWindow(*timeline, options_)).computing_ns);
  }

  // Looks at the frequency of ranks that compute longer than their peers: of one a finding, and of
  // the first few findings only, as their timelines have to be read for it unless the parts know.
  void BlameClocks(const std::vector<RankLoad>& loads, std::vector<Diagnosed>& found) {
    constexpr size_t kMostFindings = 4;
    constexpr double kMuchLower = 0.97;
    const auto clock_of = [&](int64_t rank) -> ComputingClock {
      const auto [place, is_new] = computing_mhz_.try_emplace(rank, 0);
      if (is_new && timelines_) place->second = ReadComputingMhz(rank);
      return {rank, place->second};
    };
    std::set<int64_t> late;
    for (const Diagnosed& one : found) {
      if (IsLate(one.finding.rule)) late.insert(one.finding.ranks.begin(), one.finding.ranks.end());
    }
    for (size_t i = 0; i < std::min(found.size(), kMostFindings); ++i) {
      Finding& finding = found[i].finding;
      if (!found[i].is_computing) continue;
      const RankLoad* slow = SlowestOf(loads, finding.ranks);
      const RankLoad* peer = slow == nullptr ? nullptr : UsualPeer(loads, *slow, late);
      if (peer == nullptr) continue;
      const ComputingClock slow_clock = clock_of(slow->rank);
      if (slow_clock.mhz <= 0) continue;
      const ComputingClock peer_clock = clock_of(peer->rank);
      if (slow_clock.mhz < kMuchLower * peer_clock.mhz) BlameClock(slow_clock, peer_clock, finding);
    }
  }

  // Who of them computes longest.
  static const RankLoad* SlowestOf(const std::vector<RankLoad>& loads,
                                   const std::vector<int64_t>& ranks) {
    const RankLoad* slowest = nullptr;
    for (const RankLoad& load : loads) {
      if (std::find(ranks.begin(), ranks.end(), load.rank) == ranks.end()) continue;
      if (slowest == nullptr || load.computing_ms > slowest->computing_ms) slowest = &load;
    }
    return slowest;
  }

  // A rank of the same stage, or of any if there is no other, that computes as long as most do.
  static const RankLoad* UsualPeer(const std::vector<RankLoad>& loads, const RankLoad& slow,
                                   const std::set<int64_t>& late) {
    std::vector<const RankLoad*> peers;
    for (const bool same_stage : {true, false}) {
      for (const RankLoad& load : loads) {
        const bool is_of_stage = !same_stage || !slow.at || !load.at || load.at->pp == slow.at->pp;
        if (is_of_stage && !late.contains(load.rank)) peers.push_back(&load);
      }
      if (!peers.empty()) break;
    }
    if (peers.empty()) return nullptr;
    std::vector<double> computing_ms;
    for (const RankLoad* peer : peers) computing_ms.push_back(peer->computing_ms);
    const double usual_ms = Median(std::move(computing_ms));
    return *std::min_element(peers.begin(), peers.end(), [&](const RankLoad* a, const RankLoad* b) {
      return std::abs(a->computing_ms - usual_ms) < std::abs(b->computing_ms - usual_ms);
    });
  }

  // The kind of group in which these ranks keep the others waiting most.
  std::string FeltIn(const std::vector<int64_t>& ranks) const {
    std::string most;
    double most_ns = 0;
    for (const auto& [dimension, shares] : waits_) {
      if (book_.FindFact(dimension) != nullptr || GroupName(dimension) == dimension)
        continue;  // a group without a name of its kind
      double caused_ns = 0;
      for (const int64_t rank : ranks) {
        const auto share = shares.find(rank);
        if (share != shares.end()) caused_ns += share->second.caused_ns;
      }
      if (caused_ns <= most_ns) continue;
      most = dimension;
      most_ns = caused_ns;
    }
    return most;
  }

  table::Table WaitTable() const {
    table::Table table("ClusterWaitAttribution");
    table.AddColumn("dimension", CellType::kText);
    table.AddColumn("rank", CellType::kInt);
    table.AddColumn("waitSuffered(ms/step)", CellType::kDouble);
    table.AddColumn("waitCaused(ms/step)", CellType::kDouble);
    for (const auto& [dimension, shares] : waits_) {
      for (const auto& [rank, share] : shares) {
        const auto steps = static_cast<double>(steps_of_.at(rank));
        table.AppendText(0, dimension);
        table.AppendInt(1, rank);
        table.AppendDouble(2, share.suffered_ns / 1e6 / steps);
        table.AppendDouble(3, share.caused_ns / 1e6 / steps);
      }
    }
    return table;
  }

  // The ranks that the parallel layout has; 0 without one.
  int64_t LayoutWorld() const {
    std::string problem;
    const std::optional<ParallelLayout> layout =
        distributed_args_.empty() ? std::nullopt : ParseLayout(distributed_args_, problem);
    return layout ? layout->world : 0;
  }

  // As many as metadata tells, or as the largest group has members. 0 if nobody tells.
  int64_t ExpectedRanks(int64_t world) const {
    int64_t expected = world;
    for (const GroupBook::Group& group : book_.groups())
      expected = std::max(expected, ExpectedMembers(group.use.name));
    for (const auto& [group, size] : group_sizes_) expected = std::max(expected, size);
    return expected > 0 ? std::max(expected, ranks_) : 0;
  }

  // What the first line calls a step, which shares of findings are of: from step to step where all
  // ranks say it, else on the device.
  static double ShownStepMs(const std::vector<RankLoad>& loads) {
    double step_time_ms = 0;
    double device_ms = 0;
    bool is_step_time_known = true;
    for (const RankLoad& load : loads) {
      step_time_ms += load.step_time_ms;
      device_ms += load.step_ms;
      is_step_time_known &= load.step_time_ms > 0;
    }
    if (loads.empty()) return 0;
    return (is_step_time_known ? step_time_ms : device_ms) / static_cast<double>(loads.size());
  }

  // One row: the whole job.
  table::Table Overview(const std::vector<RankLoad>& loads) {
    size_t complete = 0;
    size_t incomplete = 0;
    for (const JobCall& call : calls_.calls()) {
      ++(IsPartlySeen(call) ? incomplete : complete);
    }
    table::Table table("ClusterOverview");
    for (const char* name :
         {"ranksSeen", "ranksExpected", "steps", "groups", "callsComplete", "callsPartlySeen"}) {
      table.AddColumn(name, CellType::kInt);
    }
    for (const char* name : {"step(ms)", "computing(%)", "communicationNotOverlapped(%)", "free(%)",
                             "waiting(%)", "copies(%)", "stepTime(ms)"}) {
      table.AddColumn(name, CellType::kDouble, 1);
    }
    if (loads.empty()) return table;  // there is nothing to say of the job
    double step_ms = 0;
    double computing_ms = 0;
    double free_ms = 0;
    double waiting_ms = 0;
    double step_time_ms = 0;
    bool is_wait_known = true;
    bool is_step_time_known = true;
    for (const RankLoad& load : loads) {
      step_ms += load.step_ms;
      step_time_ms += load.step_time_ms;
      is_step_time_known &= load.step_time_ms > 0;
      is_wait_known &= load.are_times_known;
      computing_ms += load.computing_ms;
      free_ms += load.free_ms;
      waiting_ms += load.suffered_ms;
    }
    table.AppendInt(0, ranks_);
    const int64_t expected = ExpectedRanks(LayoutWorld());
    table.AppendInt(1, expected > 0 ? expected : table::kNull);
    table.AppendInt(2, static_cast<int64_t>(steps_));
    table.AppendInt(3, static_cast<int64_t>(book_.groups().size()));
    table.AppendInt(4, static_cast<int64_t>(complete));
    table.AppendInt(5, static_cast<int64_t>(incomplete));
    const double whole = step_ms > 0 ? step_ms / 100 : 1;
    table.AppendDouble(6, step_ms / static_cast<double>(loads.size()));
    table.AppendDouble(7, computing_ms / whole);
    table.AppendDouble(8, not_overlapped_ms_ / whole);
    table.AppendDouble(9, free_ms / whole);
    table.AppendDouble(10, is_wait_known ? waiting_ms / whole : kNotKnownMs);
    table.AppendDouble(11, copies_ms_ / whole);
    table.AppendDouble(
        12, is_step_time_known ? step_time_ms / static_cast<double>(loads.size()) : kNotKnownMs);
    return table;
  }

  static constexpr double kLeastWait = 0.001;  // of a step: below, a pair is left out

  Options options_;
  Timelines timelines_;
  GroupBook book_;
  std::string distributed_args_;
  int64_t ranks_ = 0;            // seen
  std::vector<RankLoad> loads_;  // of those that recorded steps or calls
  std::vector<RankStep> rank_steps_;
  std::map<int64_t, size_t> steps_of_;
  size_t steps_ = 1;
  double not_overlapped_ms_ = 0;  // of an average step, summed over ranks
  double copies_ms_ = 0;          // likewise
  JobCalls calls_;
  std::map<std::string, int64_t> group_sizes_;                 // by group
  std::map<std::string, std::map<int64_t, WaitShare>> waits_;  // by dimension, then rank
  // Of a rank's calls.
  struct CallTotals {
    double transit_ns = 0;
    bool are_times_known = false;
    bool is_cause_known = false;
  };
  std::map<int64_t, CallTotals> call_totals_;
  WaitPairs pairs_;
  GroupWaits group_waits_;
  bool are_sizes_known_ = true;  // how many members each group has
  bool is_complete_ = true;  // all members of all calls were captured: findings' costs are replayed
  std::map<int64_t, double> computing_mhz_;  // by rank, of those asked for; 0: unknown
  std::vector<PacketTotal> packets_;
  std::vector<std::pair<int64_t, LinkPart>> link_parts_;
  LocalRanks local_ranks_;
  mutable std::map<std::string, std::vector<int64_t>> members_;
};

}  // namespace

Result<JobFindings> FindInJob(std::span<const store::TraceStore> ranks, const Options& options) {
  Summary summary(options);
  for (const store::TraceStore& rank : ranks) {
    if (IsCancelled()) return Error{ErrorCode::kCancelled, "nobody waits for the result any more"};
    summary.AddStore(rank);
  }
  summary.SetTimelines(TimelinesInMemory(ranks));
  return summary.Judge().found;
}

RecipeSpec SummaryRecipe() {
  RecipeSpec spec;
  spec.name = "summary";
  spec.folder = "Summary";
  spec.summary = "Which rank, group, host or link is slow, what it costs a step, and why";
  spec.needs.communication = true;
  spec.needs.step_table = true;
  spec.has_files = false;
  spec.make = MakeRecipe<Summary>;
  return spec;
}

}  // namespace steplens::analysis::cluster
