#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/cluster/communication/group_book.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/recipes/recipes.h"
#include "analysis/cluster/summary/late_ranks.h"
#include "analysis/cluster/summary/slow_links.h"
#include "analysis/cluster/summary/small_packets.h"
#include "analysis/cluster/summary/summary_part.h"
#include "analysis/cluster/summary/waits.h"

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using table::CellType;

// "(0-7, 16)", at most a few.
std::string ShortList(const std::vector<int64_t>& ranks) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(ranks.size(), kShown); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(ranks[i]);
  if (ranks.size() > kShown) text += fmt::format(",... ({} ranks)", ranks.size());
  return text;
}

// A finding in both languages.
struct Finding {
  std::string kind;     // late_rank, late_group, slow_link, small_packets
  std::string subject;  // "rank 5", "host node1", "link 3-4"
  std::string subject_zh;
  std::string ranks;
  std::string felt_in;  // the kind of group where the others wait most
  double ms_per_step = 0;
  double share_percent = 0;  // of the step
  std::string reason_en;
  std::string reason_zh;
  std::string advice_en;
  std::string advice_zh;
};

std::string DimensionName(const std::string& dimension, bool chinese) {
  if (dimension == "rank") return chinese ? "卡" : "rank";
  if (dimension == "host") return chinese ? "主机" : "host";
  std::string name = dimension;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name +
         (dimension == "pp" ? (chinese ? " 阶段" : " stage") : (chinese ? " 序号" : " index"));
}

void WordReason(const LateGroup& late, Finding& finding) {
  switch (late.reason) {
    case LateReason::kComputing:
      finding.reason_en =
          fmt::format("its computing takes {:.2f} ms longer than its peers'", late.excess_ms);
      finding.reason_zh = fmt::format("计算时间比同组其他卡多 {:.2f} ms", late.excess_ms);
      finding.advice_en =
          "compare its kernels and clock with a peer: compute_op_sum, freq_analysis";
      finding.advice_zh = "与同组卡比较算子耗时与频率：compute_op_sum、freq_analysis";
      return;
    case LateReason::kHost:
      finding.reason_en = fmt::format(
          "its device idles {:.2f} ms longer: the host launches too late", late.excess_ms);
      finding.reason_zh = fmt::format("设备空闲多 {:.2f} ms：主机下发慢", late.excess_ms);
      finding.advice_en = "look at what the host does meanwhile: free_analysis, cann_api_sum";
      finding.advice_zh = "查看主机侧在做什么：free_analysis、cann_api_sum";
      return;
    case LateReason::kTransfers:
      finding.reason_en = fmt::format("its transfers take {:.2f} ms longer", late.excess_ms);
      finding.reason_zh = fmt::format("通信传输多 {:.2f} ms", late.excess_ms);
      finding.advice_en = "check its links: communication_matrix, slow_link";
      finding.advice_zh = "检查其链路：communication_matrix、slow_link";
      return;
    case LateReason::kUnknown:
      finding.reason_en = "neither computing, host nor transfers explain it";
      finding.reason_zh = "计算、主机下发与传输均无法解释";
      finding.advice_en = "open its timeline beside a peer's";
      finding.advice_zh = "对比其与同组卡的时间线";
      return;
  }
}

class Summary : public RecipeOf<SummaryPart> {
 public:
  explicit Summary(const Options& options) : options_(options) {}

  Result<Answer> Finish(Form) override {
    ShareWaits();
    std::vector<RankLoad> loads = Loads();
    const std::vector<Finding> findings = Find(loads);
    Answer answer;
    answer.tables.push_back({FindingTable(findings), "cluster_findings.csv"});
    answer.tables.push_back({ScoreTable(loads), "cluster_rank_scores.csv"});
    answer.tables.push_back({WaitTable(), "cluster_wait_attribution.csv"});
    answer.tables.push_back({Overview(loads), "cluster_overview.csv"});
    answer.tables.push_back({LinkTable(), "cluster_link_bandwidth.csv"});
    return answer;
  }

 protected:
  SummaryPart MapRank(const store::TraceStore& rank) const override {
    return ReadSummary(rank, options_);
  }

  void AddRank(const RankFacts& facts, SummaryPart part) override {
    book_.Add(facts, part.links.used);
    if (distributed_args_.empty()) distributed_args_ = facts.distributed_args;
    RankLoad load;
    load.rank = facts.rank;
    load.host = facts.host_name.empty() ? facts.host_uid : facts.host_name;
    double not_overlapped_ms = 0;
    for (const StepLoad& step : part.steps) {
      load.computing_ms += step.computing_us / 1000;
      load.free_ms += step.free_us / 1000;
      load.step_ms += (step.stage_us + step.bubble_us) / 1000;
      not_overlapped_ms += step.not_overlapped_us / 1000;
    }
    for (const CallPart& call : part.calls) {
      AddCall(facts.rank, part, call);
      if (call.transit_ns != kNone) load.transit_ms += static_cast<double>(call.transit_ns) / 1e6;
    }
    const size_t count = std::max<size_t>(1, part.steps.size());
    steps_ = std::max(steps_, count);
    steps_of_[facts.rank] = count;
    for (double* total : {&load.computing_ms, &load.free_ms, &load.step_ms, &load.transit_ms})
      *total /= static_cast<double>(count);
    loads_.push_back(std::move(load));
    not_overlapped_ms_ += not_overlapped_ms / static_cast<double>(count);
    for (const PacketPart& packet : part.packets) {
      packets_.push_back({facts.rank, part.Text(packet.transport), packet.size_mb, packet.time_ms,
                          packet.packets_ms, packet.small_ms});
    }
    link_parts_.emplace_back(facts.rank, std::move(part.links));
  }

 private:
  struct Call {
    std::string group;
    std::vector<CallMember> members;
    std::vector<int64_t> recorded_waits_ns;  // parallel to members
    bool is_p2p = false;
  };

  // The same call has the same name in its group on every rank. Of point-to-point calls the
  // sender's number counts, so a receive goes with the sends of the other member.
  void AddCall(int64_t rank, const SummaryPart& part, const CallPart& call) {
    const std::string group = GroupName(part.Text(call.group));
    std::string name = part.Text(call.op);
    if (call.is_p2p) {
      const GroupFact* fact = book_.FindFact(group);
      if (fact == nullptr || fact->ranks.size() != 2) return;
      const std::vector<int64_t> members = fact->ranks.ranks();
      const size_t counter = name.find("__");
      if (counter == std::string::npos) return;
      const bool sends = name.find("send") < counter || name.find("Send") < counter;
      const int64_t other = members[0] == rank ? members[1] : members[0];
      name = fmt::format("{}>{}", sends ? rank : other, name.substr(counter));
    }
    Call& entry = calls_[{group, name, part.Text(call.step)}];
    entry.group = group;
    entry.is_p2p = call.is_p2p;
    entry.members.push_back({rank, call.dur_ns});
    entry.recorded_waits_ns.push_back(call.wait_ns);
  }

  std::string DimensionOf(const std::string& group) const {
    const GroupFact* fact = book_.FindFact(group);
    return fact == nullptr || fact->pg_name.empty() ? group : fact->pg_name;
  }

  void ShareWaits() {
    for (const auto& [key, call] : calls_) {
      std::map<int64_t, WaitShare>& shares = waits_[DimensionOf(call.group)];
      const bool has_waits = std::find(call.recorded_waits_ns.begin(), call.recorded_waits_ns.end(),
                                       kNone) == call.recorded_waits_ns.end();
      if (!IsPartlySeen(call) || !has_waits) {
        AttributeWaits(call.members, shares);
        continue;
      }
      // Who was not captured may have come last: what the ranks recorded themselves tells how long
      // they waited, and arrival only who of those seen was late.
      std::map<int64_t, WaitShare> seen;
      AttributeWaits(call.members, seen);
      for (size_t i = 0; i < call.members.size(); ++i) {
        WaitShare& share = shares[call.members[i].rank];
        share.suffered_ns += static_cast<double>(call.recorded_waits_ns[i]);
        share.caused_ns += seen[call.members[i].rank].caused_ns;
      }
    }
  }

  bool IsPartlySeen(const Call& call) const {
    const GroupFact* fact = book_.FindFact(call.group);
    return fact != nullptr && fact->ranks.size() > call.members.size();
  }

  std::vector<RankLoad> Loads() const {
    std::vector<RankLoad> loads = loads_;
    std::string problem;
    const std::optional<ParallelLayout> layout =
        distributed_args_.empty() ? std::nullopt : ParseLayout(distributed_args_, problem);
    for (RankLoad& load : loads) {
      if (layout && load.rank < layout->world) load.at = CoordinatesOf(*layout, load.rank);
      const auto steps = static_cast<double>(steps_of_.at(load.rank));
      for (const auto& [dimension, shares] : waits_) {
        const auto share = shares.find(load.rank);
        if (share == shares.end()) continue;
        load.suffered_ms += share->second.suffered_ns / 1e6 / steps;
        load.caused_ms += share->second.caused_ns / 1e6 / steps;
      }
    }
    return loads;
  }

  std::vector<LinkTotal> Links() const {
    std::vector<LinkTotal> out;
    for (const auto& [rank, part] : link_parts_) {
      for (const LinkRow& row : part.links) {
        const std::string& group = part.Text(row.group);
        const GroupFact* fact = book_.FindFact(group);
        const std::vector<int64_t> members =
            fact == nullptr ? std::vector<int64_t>() : MembersOf(*fact);
        const auto global = [&](int64_t local) {
          return local >= 0 && local < static_cast<int64_t>(members.size())
                     ? members[static_cast<size_t>(local)]
                     : kNone;
        };
        LinkTotal link{global(row.src),   global(row.dst), part.Text(row.transport),
                       part.Text(row.op), row.size_mb,     row.time_ms};
        if (link.src != kNone && link.dst != kNone) out.push_back(std::move(link));
      }
    }
    return out;
  }

  // Groups repeat for every row; unpacking them once each is enough.
  const std::vector<int64_t>& MembersOf(const GroupFact& fact) const {
    std::vector<int64_t>& members = members_[fact.id];
    if (members.empty()) members = fact.ranks.ranks();
    return members;
  }

  std::vector<Finding> Find(std::vector<RankLoad>& loads) const {
    std::vector<Finding> out;
    std::vector<double> step_times;
    for (const RankLoad& load : loads) step_times.push_back(load.step_ms);
    std::nth_element(step_times.begin(),
                     step_times.begin() + static_cast<int64_t>(step_times.size() / 2),
                     step_times.end());
    const double step_ms = step_times.empty() ? 0 : step_times[step_times.size() / 2];
    const std::vector<SmallPackets> small = FindSmallPackets(packets_, steps_);
    const std::vector<SlowLink> slow = FindSlowLinks(Links(), steps_);
    for (const SmallPackets& found : small) out.push_back(Word(found));
    // A rank whose packets are small has slow links because of them.
    std::set<int64_t> explained;
    for (const SmallPackets& found : small)
      explained.insert(found.ranks.begin(), found.ranks.end());
    for (const SlowLink& link : slow) {
      if (explained.contains(link.src)) continue;
      if (step_ms > 0 && link.lost_ms < kMinLinkLoss * step_ms) continue;
      out.push_back(Word(link));
    }
    const bool links_are_slow = !out.empty();
    for (const LateGroup& late : FindLateRanks(loads)) {
      // Slow transfers are named as links above.
      if (links_are_slow &&
          (late.reason == LateReason::kTransfers || late.reason == LateReason::kUnknown)) {
        continue;
      }
      out.push_back(Word(late));
      out.back().felt_in = FeltIn(late.ranks);
    }
    for (Finding& finding : out) {
      if (step_ms > 0) finding.share_percent = 100 * finding.ms_per_step / step_ms;
    }
    std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) {
      return a.ms_per_step > b.ms_per_step;
    });
    return out;
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

  static Finding Word(const LateGroup& late) {
    Finding finding;
    finding.kind = late.dimension == "rank" ? "late_rank" : "late_group";
    finding.subject = DimensionName(late.dimension, false) + " " + late.index;
    finding.subject_zh = DimensionName(late.dimension, true) + " " + late.index;
    finding.ranks = ShortList(late.ranks);
    finding.ms_per_step = late.late_ms;
    WordReason(late, finding);
    return finding;
  }

  static Finding Word(const SlowLink& link) {
    Finding finding;
    finding.kind = "slow_link";
    finding.ms_per_step = link.lost_ms;
    const std::string speed_en = fmt::format("{} at {:.1f} GB/s where {:.1f} is usual",
                                             link.transport, link.gbps, link.usual_gbps);
    const std::string speed_zh = fmt::format("{} 带宽 {:.1f} GB/s，通常为 {:.1f} GB/s",
                                             link.transport, link.gbps, link.usual_gbps);
    switch (link.kind) {
      case LinkClass::kSender:
        finding.subject = fmt::format("sending by rank {}", link.src);
        finding.subject_zh = fmt::format("卡 {} 的发送链路", link.src);
        finding.ranks = std::to_string(link.src);
        finding.reason_en =
            fmt::format("{} of its links are slow as sender: {}", link.links, speed_en);
        finding.reason_zh = fmt::format("作为发送端有 {} 条链路慢：{}", link.links, speed_zh);
        break;
      case LinkClass::kReceiver:
        finding.subject = fmt::format("receiving by rank {}", link.dst);
        finding.subject_zh = fmt::format("卡 {} 的接收链路", link.dst);
        finding.ranks = std::to_string(link.dst);
        finding.reason_en =
            fmt::format("{} of its links are slow as receiver: {}", link.links, speed_en);
        finding.reason_zh = fmt::format("作为接收端有 {} 条链路慢：{}", link.links, speed_zh);
        break;
      case LinkClass::kLink:
        finding.subject = fmt::format("link {}-{}", link.src, link.dst);
        finding.subject_zh = fmt::format("链路 {}-{}", link.src, link.dst);
        finding.ranks = fmt::format("{},{}", link.src, link.dst);
        finding.reason_en = speed_en;
        finding.reason_zh = speed_zh;
        break;
    }
    finding.advice_en =
        "check cable, port and NIC of these ranks; communication_matrix has all links";
    finding.advice_zh = "检查这些卡的线缆、端口与网卡；communication_matrix 有全部链路";
    return finding;
  }

  static Finding Word(const SmallPackets& small) {
    Finding finding;
    finding.kind = "small_packets";
    finding.subject = fmt::format("sending by {} in small packets", small.transport);
    finding.subject_zh = small.transport + " 小包传输";
    finding.ranks = ShortList(small.ranks);
    finding.ms_per_step = small.lost_ms;
    finding.reason_en = fmt::format(
        "{:.0f} % of the transfer time goes to packets below {} MB, which reach {:.1f} of {:.1f} "
        "GB/s",
        100 * small.small_share, LargePacketMb(small.transport), small.gbps, small.expected_gbps);
    finding.reason_zh = fmt::format(
        "{:.0f}% 的传输时间用于小于 {} MB 的包，带宽 {:.1f}/{:.1f} GB/s", 100 * small.small_share,
        LargePacketMb(small.transport), small.gbps, small.expected_gbps);
    finding.advice_en = "send more at once: larger buckets, gradient accumulation, fewer splits";
    finding.advice_zh = "增大单次通信量：更大的桶、梯度累积、减少切分";
    return finding;
  }

  static table::Table FindingTable(const std::vector<Finding>& findings) {
    table::Table table("ClusterFindings");
    for (const char* name : {"kind", "subject", "ranks", "feltIn"})
      table.AddColumn(name, CellType::kText);
    table.AddColumn("msPerStep", CellType::kDouble);
    table.AddColumn("shareOfStep(%)", CellType::kDouble, 1);
    for (const char* name : {"reason", "advice", "subjectZh", "reasonZh", "adviceZh"})
      table.AddColumn(name, CellType::kText);
    for (const Finding& finding : findings) {
      table.AppendText(0, finding.kind);
      table.AppendText(1, finding.subject);
      table.AppendText(2, finding.ranks);
      table.AppendText(3, finding.felt_in);
      table.AppendDouble(4, finding.ms_per_step);
      table.AppendDouble(5, finding.share_percent);
      table.AppendText(6, finding.reason_en);
      table.AppendText(7, finding.advice_en);
      table.AppendText(8, finding.subject_zh);
      table.AppendText(9, finding.reason_zh);
      table.AppendText(10, finding.advice_zh);
    }
    return table;
  }

  // Scores: relative (how much less a rank waits than its peers) and individual (its own
  // computing).
  static table::Table ScoreTable(const std::vector<RankLoad>& loads) {
    table::Table table("ClusterRankScore");
    table.AddColumn("rank", CellType::kInt);
    table.AddColumn("host", CellType::kText);
    for (const char* name : {"tpIndex", "cpIndex", "dpIndex", "ppIndex", "epIndex"})
      table.AddColumn(name, CellType::kInt);
    for (const char* name :
         {"step(ms)", "computing(ms)", "free(ms)", "transit(ms)", "waitSuffered(ms)",
          "waitCaused(ms)", "relativeScore(ms)", "individualScore(%)"}) {
      table.AddColumn(name, CellType::kDouble);
    }
    for (const RankLoad& load : loads) {
      table.AppendInt(0, load.rank);
      table.AppendText(1, load.host);
      const Coordinates at = load.at.value_or(Coordinates{kNone, kNone, kNone, kNone, kNone});
      const int64_t indexes[] = {at.tp, at.cp, at.dp, at.pp, at.ep};
      for (size_t i = 0; i < std::size(indexes); ++i)
        table.AppendInt(2 + i, load.at ? indexes[i] : table::kNull);
      const double cells[] = {load.step_ms,    load.computing_ms,   load.free_ms,
                              load.transit_ms, load.suffered_ms,    load.caused_ms,
                              load.late_ms,    load.compute_percent};
      for (size_t i = 0; i < std::size(cells); ++i) table.AppendDouble(7 + i, cells[i]);
    }
    return table;
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

  // Bandwidth between two ranks over all groups and steps; of large groups the slowest links only.
  table::Table LinkTable() const {
    std::map<std::tuple<int64_t, int64_t, std::string>, std::pair<double, double>> sums;
    for (const LinkTotal& link : Links()) {
      auto& [size_mb, time_ms] = sums[{link.src, link.dst, link.transport}];
      size_mb += link.size_mb;
      time_ms += link.time_ms;
    }
    table::Table table("ClusterLinkBandwidth");
    table.AddColumn("srcRank", CellType::kInt);
    table.AddColumn("dstRank", CellType::kInt);
    table.AddColumn("transport", CellType::kText);
    for (const char* name : {"size(MB)", "time(ms)", "bandwidth(GB/s)"})
      table.AddColumn(name, CellType::kDouble);
    for (const auto& [key, sum] : sums) {
      table.AppendInt(0, std::get<0>(key));
      table.AppendInt(1, std::get<1>(key));
      table.AppendText(2, std::get<2>(key));
      table.AppendDouble(3, sum.first);
      table.AppendDouble(4, sum.second);
      table.AppendDouble(5, sum.second > 0 ? sum.first / sum.second : 0);
    }
    return table;
  }

  // One row: the whole job.
  table::Table Overview(const std::vector<RankLoad>& loads) const {
    std::string problem;
    const std::optional<ParallelLayout> layout =
        distributed_args_.empty() ? std::nullopt : ParseLayout(distributed_args_, problem);
    size_t complete = 0;
    size_t incomplete = 0;
    for (const auto& [key, call] : calls_) {
      ++(IsPartlySeen(call) ? incomplete : complete);
    }
    table::Table table("ClusterOverview");
    for (const char* name :
         {"ranksSeen", "ranksExpected", "steps", "groups", "callsComplete", "callsPartlySeen"}) {
      table.AddColumn(name, CellType::kInt);
    }
    for (const char* name :
         {"step(ms)", "computing(%)", "communicationNotOverlapped(%)", "free(%)", "waiting(%)"}) {
      table.AddColumn(name, CellType::kDouble, 1);
    }
    double step_ms = 0;
    double computing_ms = 0;
    double free_ms = 0;
    double waiting_ms = 0;
    for (const RankLoad& load : loads) {
      step_ms += load.step_ms;
      computing_ms += load.computing_ms;
      free_ms += load.free_ms;
      waiting_ms += load.suffered_ms;
    }
    const auto ranks = static_cast<int64_t>(loads.size());
    table.AppendInt(0, ranks);
    table.AppendInt(1, layout ? layout->world : table::kNull);
    table.AppendInt(2, static_cast<int64_t>(steps_));
    table.AppendInt(3, static_cast<int64_t>(book_.groups().size()));
    table.AppendInt(4, static_cast<int64_t>(complete));
    table.AppendInt(5, static_cast<int64_t>(incomplete));
    const double whole = step_ms > 0 ? step_ms / 100 : 1;
    table.AppendDouble(6, ranks > 0 ? step_ms / static_cast<double>(ranks) : 0);
    table.AppendDouble(7, computing_ms / whole);
    table.AppendDouble(8, not_overlapped_ms_ / whole);
    table.AppendDouble(9, free_ms / whole);
    table.AppendDouble(10, waiting_ms / whole);
    return table;
  }

  static constexpr double kMinLinkLoss = 0.001;  // of a step: a slow link that nobody feels

  Options options_;
  GroupBook book_;
  std::string distributed_args_;
  std::vector<RankLoad> loads_;
  std::map<int64_t, size_t> steps_of_;
  size_t steps_ = 1;
  double not_overlapped_ms_ = 0;  // of an average step, summed over ranks
  std::map<std::tuple<std::string, std::string, std::string>, Call> calls_;
  std::map<std::string, std::map<int64_t, WaitShare>> waits_;  // by dimension, then rank
  std::vector<PacketTotal> packets_;
  std::vector<std::pair<int64_t, LinkPart>> link_parts_;
  mutable std::map<std::string, std::vector<int64_t>> members_;
};

}  // namespace

RecipeSpec SummaryRecipe() {
  RecipeSpec spec;
  spec.name = "summary";
  spec.folder = "Summary";
  spec.summary = "Which rank, group, host or link is slow, what it costs a step, and why";
  spec.needs.communication = true;
  spec.needs.step_table = true;
  spec.make = MakeRecipe<Summary>;
  return spec;
}

}  // namespace steplens::analysis::cluster
