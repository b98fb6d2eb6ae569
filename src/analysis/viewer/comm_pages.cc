#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/cells.h"
#include "analysis/cluster/communication/time_totals.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/collectives/collective_book.h"
#include "analysis/collectives/comm_data.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"
#include "analysis/viewer/metrics.h"

// The Communication page: its selectors, the times of ranks, the thumbnail.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

constexpr std::string_view kTimesQuery = "SELECT * FROM comm_times";

// Times of one row of the duration table: an operator, or the sum of some.
struct Times {
  cluster::CommTimes sums;
  TimesSource source = TimesSource::kResults;  // the weakest of its rows'
  CallPeers peers{};                           // of the row of which the fewest were captured
  double sdma_gbps = 0;
  double rdma_gbps = 0;
  double start_us = 0;

  void Add(const CommTime& row) {
    sums.Add(row);
    start_us = row.start_us;
    source = std::max(source, row.source);
    if (row.peers.is_partial() || peers.members == 0) peers = row.peers;
  }
  void AddTraffic(const CommTraffic& row) {
    if (row.transport == "SDMA") sdma_gbps = std::max(sdma_gbps, row.bandwidth_gbps);
    if (row.transport == "RDMA") rdma_gbps = std::max(rdma_gbps, row.bandwidth_gbps);
  }
};

void AddTimeColumns(TableRows& rows) {
  for (const char* name : {"Elapsed Time(ms)", "Transit Time(ms)", "Synchronization Time(ms)",
                           "Wait Time(ms)", "Synchronization Time Ratio", "Wait Time Ratio",
                           "Idle Time(ms)", "SDMA BW(GB/s)", "RDMA BW(GB/s)"}) {
    rows.Column(NumberColumn(name, 4));
  }
  rows.Column(TextColumn("source"));
  rows.Column(IntColumn("captured"));
  rows.Column(IntColumn("members"));
}

void AppendTimes(const Times& t, size_t column, TableRows& rows) {
  for (const double value :
       {t.sums.elapse, t.sums.transit, t.sums.synchronization, t.sums.wait,
        t.sums.SynchronizationRatio(), t.sums.WaitRatio(), t.sums.idle, t.sdma_gbps, t.rdma_gbps}) {
    rows.Cell(column++, RoundTo(value, 4));
  }
  rows.Cell(column++, SourceName(t.source));
  rows.Cell(column++, t.peers.captured);
  rows.Cell(column++, t.peers.members > 0 ? t.peers.members : store::kNone);
}

MetricAnswer CommAnswer(std::string definition, const CommData& data) {
  MetricAnswer answer;
  answer.definition = std::move(definition);
  answer.query = kTimesQuery;
  answer.warnings = CommWarnings(data);
  if (data.times.empty()) {
    answer.warnings.push_back(Message{"warning.no_communication"});
  }
  return answer;
}

}  // namespace

Result<MetricAnswer> CommSteps(const MetricCall& call) {
  const CommData data = ReadCommData(call.job, {});
  std::set<int64_t> steps;
  for (const CommTime& row : data.times) steps.insert(row.step);
  TableRows rows("steps", {IntColumn("step"), TextColumn("label")});
  for (const int64_t step : steps) {
    rows.Add(step, step == store::kNone ? "step" : fmt::format("step{}", step));
  }
  MetricAnswer answer = CommAnswer("insight.communication", data);
  answer.tables.push_back(rows.Take());
  return answer;
}

Result<MetricAnswer> CommGroups(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(CommScope scope, CommScopeOf(call));
  scope.group.clear();
  const CommData data = ReadCommData(call.job, scope);
  std::map<cluster::GroupUse, std::pair<size_t, double>> used;  // operators, time
  for (const CommTime& row : data.times) {
    auto& [count, elapse_ms] = used[{row.group, row.is_p2p}];
    ++count;
    elapse_ms += row.elapse_ms;
  }
  TableRows rows("groups", {TextColumn("group"), TextColumn("label"), TextColumn("type"),
                            TextColumn("parallel"), TextColumn("ranks"), IntColumn("size"),
                            IntColumn("operators"), NumberColumn("elapse_ms", 4)});
  for (const cluster::GroupBook::Group& group : data.groups.groups()) {
    const auto found = used.find(group.use);
    if (found == used.end()) continue;
    const std::string ranks = group.members.ToText(", ");
    rows.Add(group.use.name, group.pg_name.empty() ? ranks : group.pg_name + ":" + ranks,
             group.use.is_p2p ? "p2p" : "collective", group.pg_name, ranks, group.members.size(),
             found->second.first, RoundTo(found->second.second, 4));
  }
  MetricAnswer answer = CommAnswer("insight.communication", data);
  answer.tables.push_back(rows.Take());
  return answer;
}

Result<MetricAnswer> CommOperators(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const CommScope scope, CommScopeOf(call));
  const CommData data = ReadCommData(call.job, scope);
  std::map<std::string_view, std::pair<std::set<int64_t>, double>> operators;
  for (const CommTime& row : data.times) {
    auto& [ranks, elapse_ms] = operators[row.op];
    ranks.insert(row.rank);
    elapse_ms = std::max(elapse_ms, row.elapse_ms);
  }
  TableRows rows("operators",
                 {TextColumn("operator"), IntColumn("ranks"), NumberColumn("longest_ms", 4)});
  rows.Add(kTotalOp, store::kNone, kNoNumber);
  for (const auto& [name, use] : operators)
    rows.Add(name, use.first.size(), RoundTo(use.second, 4));
  MetricAnswer answer = CommAnswer("insight.communication", data);
  answer.tables.push_back(rows.Take());
  return answer;
}

Result<MetricAnswer> CommDurations(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const CommScope scope, CommScopeOf(call));
  SL_ASSIGN_OR_RETURN(const std::optional<int64_t> of_rank, call.args.Int("rank"));
  const CommData data = ReadCommData(call.job, scope);
  const auto is_wanted = [&](const std::string& op) { return scope.is_total() || op == scope.op; };
  std::map<int64_t, Times> ranks;
  // Rows of the rank asked for, by group, operator and step.
  std::map<std::tuple<std::string_view, std::string_view, int64_t>, Times> details;
  for (const CommTime& row : data.times) {
    if (!is_wanted(row.op)) continue;
    Times& total = ranks[row.rank];
    total.Add(row);
    Times* detail = of_rank == row.rank ? &details[{row.group, row.op, row.step}] : nullptr;
    if (detail != nullptr) detail->Add(row);
  }
  for (const CommTraffic& row : data.traffic) {
    if (!is_wanted(row.op) || !ranks.contains(row.rank)) continue;
    ranks[row.rank].AddTraffic(row);
    const auto detail = details.find({row.group, row.op, row.step});
    if (of_rank == row.rank && detail != details.end()) detail->second.AddTraffic(row);
  }
  TableRows rows("durations", {IntColumn("rank")});
  AddTimeColumns(rows);
  for (const auto& [rank, times] : ranks) {
    rows.Add(rank);
    AppendTimes(times, 1, rows);
  }
  MetricAnswer answer = CommAnswer("insight.communication_duration", data);
  answer.tables.push_back(rows.Take());
  if (!of_rank) return answer;
  TableRows of_ops("operators", {TextColumn("operator"), TextColumn("group"), IntColumn("step"),
                                 NumberColumn("start_us", 3)});
  AddTimeColumns(of_ops);
  for (const auto& [key, times] : details) {
    of_ops.Add(std::get<1>(key), std::get<0>(key), std::get<2>(key), times.start_us);
    AppendTimes(times, 4, of_ops);
  }
  answer.tables.push_back(of_ops.Take());
  return answer;
}

Result<MetricAnswer> CommThumbnail(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const CommScope scope, CommScopeOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t origin_ns, OriginOf(call));
  const CollectiveBook book(call.job);
  TableRows rows("thumbnail", {IntColumn("rank"), TextColumn("name"), IntColumn("start_ns"),
                               IntColumn("elapse_ns"), IntColumn("step"), TextColumn("group"),
                               TextColumn("call"), IntColumn("track"), IntColumn("comm_op")});
  for (uint32_t r = 0; r < call.job.ranks.size(); ++r) {
    SL_RETURN_IF_ERROR(StillWanted());
    const TraceStore& rank = call.job.ranks[r];
    const store::CommOpTable& ops = rank.comm_ops;
    const GroupNames groups(rank);
    const std::vector<StepRange> steps = ComputeStepRanges(rank);
    StepFinder finder(steps);
    for (uint32_t row = 0; row < ops.size(); ++row) {
      const auto found = finder.Find(ops.begin_ns[row]);
      const int64_t step = found ? steps[*found].step : store::kNone;
      const std::string_view name = rank.Text(ops.name[row]);
      const std::string group = groups.Of(row);
      if (scope.step && step != *scope.step) continue;
      if (!scope.HasGroup(group, cluster::IsP2pName(name))) continue;
      const CollectiveBook::Call* member = book.Find(r, row);
      const auto track = static_cast<int64_t>(ops.track[row]);
      rows.Add(rank.info.rank, name, AddNs(ops.begin_ns[row], -origin_ns), ops.dur_ns[row], step,
               group, member == nullptr ? std::string() : member->key,
               track == store::kNoId ? store::kNone : track, row);
    }
  }
  MetricAnswer answer;
  answer.definition = "insight.communication_duration";
  answer.query = "SELECT * FROM comm_ops";
  answer.tables.push_back(rows.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
