#include "analysis/cluster/summary/summary_tables.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace steplens::analysis::cluster {
namespace {

using store::kNone;
using table::CellType;

constexpr double kUnknownCell = std::numeric_limits<double>::quiet_NaN();

// Ranks at one place, together.
struct PlaceSum {
  int64_t ranks = 0;
  double computing_ms = 0;
  double longest_computing_ms = 0;
  double free_ms = 0;
  double transit_ms = 0;
  double suffered_ms = 0;
  double caused_ms = 0;
  double most_caused_ms = 0;  // nobody is blamed for nothing
  bool is_cause_known = false;
  int64_t most_blamed = kNone;

  void Add(const RankLoad& load) {
    ++ranks;
    computing_ms += load.computing_ms;
    longest_computing_ms = std::max(longest_computing_ms, load.computing_ms);
    free_ms += load.free_ms;
    transit_ms += load.transit_ms;
    if (load.are_times_known) suffered_ms += load.suffered_ms;
    if (!load.is_cause_known) return;
    is_cause_known = true;
    caused_ms += load.caused_ms;
    if (load.caused_ms <= most_caused_ms) return;
    most_caused_ms = load.caused_ms;
    most_blamed = load.rank;
  }
};

void AddSumColumns(table::Table& table) {
  table.AddColumn("ranks", CellType::kInt);
  for (const char* name : {"computingMean(ms)", "computingMax(ms)", "freeMean(ms)",
                           "transitMean(ms)", "waitSuffered(ms)", "waitCaused(ms)"}) {
    table.AddColumn(name, CellType::kDouble);
  }
  table.AddColumn("mostBlamedRank", CellType::kInt);
}

void AppendSum(table::Table& table, size_t column, const PlaceSum& sum) {
  const auto ranks = static_cast<double>(sum.ranks);
  table.AppendInt(column++, sum.ranks);
  for (const double value : {sum.computing_ms / ranks, sum.longest_computing_ms,
                             sum.free_ms / ranks, sum.transit_ms / ranks, sum.suffered_ms,
                             sum.is_cause_known ? sum.caused_ms : kUnknownCell}) {
    table.AppendDouble(column++, value);
  }
  table.AppendInt(column, sum.most_blamed);
}

}  // namespace

table::Table RankScoreTable(const std::vector<RankLoad>& loads) {
  table::Table table("ClusterRankScore");
  table.AddColumn("rank", CellType::kInt);
  table.AddColumn("host", CellType::kText);
  for (const char* name : {"tpIndex", "cpIndex", "dpIndex", "ppIndex", "epIndex"})
    table.AddColumn(name, CellType::kInt);
  for (const char* name :
       {"step(ms)", "computing(ms)", "free(ms)", "transit(ms)", "waitSuffered(ms)",
        "waitCaused(ms)", "relativeScore(ms)", "individualScore(%)", "stepTime(ms)"}) {
    table.AddColumn(name, CellType::kDouble);
  }
  for (const RankLoad& load : loads) {
    table.AppendInt(0, load.rank);
    table.AppendText(1, load.host);
    const Coordinates at = load.at.value_or(Coordinates{kNone, kNone, kNone, kNone, kNone});
    const int64_t indexes[] = {at.tp, at.cp, at.dp, at.pp, at.ep};
    for (size_t i = 0; i < std::size(indexes); ++i)
      table.AppendInt(2 + i, load.at ? indexes[i] : table::kNull);
    const double cells[] = {load.step_ms,
                            load.computing_ms,
                            load.free_ms,
                            load.are_times_known ? load.transit_ms : kUnknownCell,
                            load.are_times_known ? load.suffered_ms : kUnknownCell,
                            load.is_cause_known ? load.caused_ms : kUnknownCell,
                            load.is_cause_known ? load.late_ms : kUnknownCell,
                            load.compute_percent,
                            load.step_time_ms > 0 ? load.step_time_ms : kUnknownCell};
    for (size_t i = 0; i < std::size(cells); ++i) table.AppendDouble(7 + i, cells[i]);
  }
  return table;
}

table::Table HostSumTable(const std::vector<RankLoad>& loads) {
  std::map<std::string, PlaceSum> hosts;
  for (const RankLoad& load : loads) {
    if (!load.host.empty()) hosts[load.host].Add(load);
  }
  table::Table table("ClusterHostSum");
  table.AddColumn("host", CellType::kText);
  AddSumColumns(table);
  for (const auto& [host, sum] : hosts) {
    table.AppendText(0, host);
    AppendSum(table, 1, sum);
  }
  return table;
}

table::Table ParallelSumTable(const std::vector<RankLoad>& loads) {
  const std::pair<const char*, int64_t Coordinates::*> dimensions[] = {{"tp", &Coordinates::tp},
                                                                       {"pp", &Coordinates::pp},
                                                                       {"dp", &Coordinates::dp},
                                                                       {"cp", &Coordinates::cp},
                                                                       {"ep", &Coordinates::ep}};
  table::Table table("ClusterParallelSum");
  table.AddColumn("dimension", CellType::kText);
  table.AddColumn("index", CellType::kInt);
  AddSumColumns(table);
  for (const auto& [name, field] : dimensions) {
    std::map<int64_t, PlaceSum> places;
    for (const RankLoad& load : loads) {
      if (load.at) places[(*load.at).*field].Add(load);
    }
    if (places.size() < 2) continue;  // a dimension of one divides nothing
    for (const auto& [index, sum] : places) {
      table.AppendText(0, name);
      table.AppendInt(1, index);
      AppendSum(table, 2, sum);
    }
  }
  return table;
}

table::Table GroupWaitTable(const GroupWaits& waits, const GroupBook& book, size_t steps) {
  table::Table table("ClusterGroupWait");
  for (const char* name : {"dimension", "group_name", "ranks"})
    table.AddColumn(name, CellType::kText);
  table.AddColumn("calls", CellType::kInt);
  table.AddColumn("wait(ms/step)", CellType::kDouble);
  table.AddColumn("mostBlamedRank", CellType::kInt);
  table.AddColumn("blame(ms/step)", CellType::kDouble);
  std::vector<const std::pair<const std::string, GroupWaits::Group>*> order;
  for (const auto& group : waits.groups()) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.wait_ns > b->second.wait_ns;
  });
  const double ns_to_ms = 1e-6 / static_cast<double>(std::max<size_t>(steps, 1));
  for (const auto* entry : order) {
    const auto& [name, group] = *entry;
    const GroupFact* fact = book.FindFact(name);
    std::vector<int64_t> ranks(group.ranks.begin(), group.ranks.end());
    std::pair<double, int64_t> most{group.shares.empty() ? kUnknownCell : 0, kNone};
    for (const auto& [rank, share] : group.shares) {
      if (share.caused_ns > most.first) most = {share.caused_ns, rank};
    }
    table.AppendText(0, fact == nullptr ? "" : fact->pg_name);
    table.AppendText(1, name);
    table.AppendText(2, RankSet(std::move(ranks)).ToShortText());
    table.AppendInt(3, group.calls);
    table.AppendDouble(4, group.wait_ns * ns_to_ms);
    table.AppendInt(5, most.second);
    table.AppendDouble(6, most.first * ns_to_ms);
  }
  return table;
}

table::Table RankStepTable(const std::vector<RankStep>& steps) {
  table::Table table("ClusterRankStep");
  table.AddColumn("rank", CellType::kInt);
  table.AddColumn("step", CellType::kInt);
  for (const char* name : {"computing(ms)", "communicationNotOverlapped(ms)", "free(ms)",
                           "waitSuffered(ms)", "transit(ms)"}) {
    table.AddColumn(name, CellType::kDouble);
  }
  for (const RankStep& one : steps) {
    table.AppendInt(0, one.rank);
    table.AppendInt(1, one.step == kNone ? table::kNull : one.step);
    table.AppendDouble(2, one.computing_ms);
    table.AppendDouble(3, one.not_overlapped_ms);
    table.AppendDouble(4, one.free_ms);
    table.AppendDouble(5, one.suffered_ms);
    table.AppendDouble(6, one.transit_ms);
  }
  return table;
}

table::Table HostLinkTable(const std::vector<LinkTotal>& links,
                           const std::vector<RankLoad>& loads) {
  std::map<int64_t, std::string_view> host_of;
  for (const RankLoad& load : loads) {
    if (!load.host.empty()) host_of[load.rank] = load.host;
  }
  struct Sum {
    std::map<std::pair<int64_t, int64_t>, std::pair<double, double>> links;  // -> size, time
  };
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Sum> sums;
  for (const LinkTotal& link : links) {
    const auto src = host_of.find(link.src);
    const auto dst = host_of.find(link.dst);
    if (src == host_of.end() || dst == host_of.end()) continue;
    auto& [size_mb, time_ms] =
        sums[{src->second, dst->second, link.transport}].links[{link.src, link.dst}];
    size_mb += link.size_mb;
    time_ms += link.time_ms;
  }
  table::Table table("ClusterHostLinks");
  for (const char* name : {"srcHost", "dstHost", "transport"})
    table.AddColumn(name, CellType::kText);
  table.AddColumn("links", CellType::kInt);
  for (const char* name : {"size(MB)", "time(ms)", "bandwidth(GB/s)", "slowest(GB/s)"})
    table.AddColumn(name, CellType::kDouble);
  table.AddColumn("slowestSrcRank", CellType::kInt);
  table.AddColumn("slowestDstRank", CellType::kInt);
  for (const auto& [key, sum] : sums) {
    double size_mb = 0;
    double time_ms = 0;
    std::tuple<double, int64_t, int64_t> slowest{std::numeric_limits<double>::max(), kNone, kNone};
    for (const auto& [ends, traffic] : sum.links) {
      size_mb += traffic.first;
      time_ms += traffic.second;
      if (traffic.second <= 0) continue;
      slowest = std::min(slowest, {traffic.first / traffic.second, ends.first, ends.second});
    }
    if (time_ms <= 0) continue;
    table.AppendText(0, std::get<0>(key));
    table.AppendText(1, std::get<1>(key));
    table.AppendText(2, std::get<2>(key));
    table.AppendInt(3, static_cast<int64_t>(sum.links.size()));
    table.AppendDouble(4, size_mb);
    table.AppendDouble(5, time_ms);
    table.AppendDouble(6, size_mb / time_ms);
    table.AppendDouble(7, std::get<0>(slowest));
    table.AppendInt(8, std::get<1>(slowest));
    table.AppendInt(9, std::get<2>(slowest));
  }
  return table;
}

table::Table LinkBandwidthTable(std::vector<LinkTotal> links) {
  const auto key = [](const LinkTotal& link) {
    return std::tie(link.src, link.dst, link.transport);
  };
  std::stable_sort(links.begin(), links.end(),
                   [&](const LinkTotal& a, const LinkTotal& b) { return key(a) < key(b); });
  table::Table table("ClusterLinkBandwidth");
  table.AddColumn("srcRank", CellType::kInt);
  table.AddColumn("dstRank", CellType::kInt);
  table.AddColumn("transport", CellType::kText);
  for (const char* name : {"size(MB)", "time(ms)", "bandwidth(GB/s)"})
    table.AddColumn(name, CellType::kDouble);
  for (size_t i = 0; i < links.size();) {
    LinkTotal sum = links[i];
    for (++i; i < links.size() && key(links[i]) == key(sum); ++i) {
      sum.size_mb += links[i].size_mb;
      sum.time_ms += links[i].time_ms;
    }
    table.AppendInt(0, sum.src);
    table.AppendInt(1, sum.dst);
    table.AppendText(2, sum.transport);
    table.AppendDouble(3, sum.size_mb);
    table.AppendDouble(4, sum.time_ms);
    table.AppendDouble(5, sum.gbps());
  }
  return table;
}

}  // namespace steplens::analysis::cluster
