#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/cells.h"
#include "analysis/cluster/recipe_tables.h"
#include "analysis/collectives/comm_data.h"
#include "analysis/viewer/metrics.h"

// The Communication page: links between ranks, transports, packets.

namespace steplens::analysis::viewer {
namespace {

struct LinkTotal {
  double size_mb = 0;
  double time_ms = 0;
  std::string op_name;
  bool is_mapped = true;
};

// The rows of a rank over one transport, added up.
struct TransportTotal {
  double size_mb = 0;
  double time_ms = 0;
  double large_packets = 0;
  double packets = 0;
  size_t rows = 0;
  double given_ratio = 0;
  std::map<double, std::pair<double, double>> sizes;  // size -> count, time
};

// From this size on a packet counts as large: 16 MB, over RDMA 1 MB.
double LargeMb(std::string_view transport) { return transport == "RDMA" ? 1 : 16; }

Result<std::map<std::string, TransportTotal>> Transports(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const CommScope scope, CommScopeOf(call));
  SL_ASSIGN_OR_RETURN(const store::TraceStore* const rank, RankOf(call));
  std::map<std::string, TransportTotal> totals;
  for (const CommTraffic& row : ReadCommData(call.job, scope).traffic) {
    if (row.rank != rank->info.rank || (!scope.is_total() && row.op != scope.op)) continue;
    TransportTotal& total = totals[row.transport];
    total.size_mb += row.size_mb;
    total.time_ms += row.time_ms;
    total.given_ratio = row.large_packet_ratio;
    ++total.rows;
    for (const cluster::CommPacket& packet : row.packets) {
      auto& [count, time_ms] = total.sizes[packet.size_mb];
      count += packet.count;
      time_ms += packet.total_ms;
      total.packets += packet.count;
      if (packet.size_mb > LargeMb(row.transport)) total.large_packets += packet.count;
    }
  }
  return totals;
}

MetricAnswer TrafficAnswer(const char* query, bool is_empty) {
  MetricAnswer answer;
  answer.definition = "insight.communication_bandwidth";
  answer.query = query;
  if (is_empty) {
    answer.warnings.push_back(Message{"warning.no_bandwidths"});
  }
  return answer;
}

}  // namespace

Result<MetricAnswer> CommBandwidth(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const auto totals, Transports(call));
  TableRows rows("bandwidth",
                 {TextColumn("Transport Type"), NumberColumn("Transit Size(MB)", 4),
                  NumberColumn("Transit Time(ms)", 4), NumberColumn("Bandwidth(GB/s)", 4),
                  NumberColumn("Large Packet Ratio", 4)});
  for (const auto& [transport, total] : totals) {
    // One row has its ratio as delivered; a sum has that of all its packets.
    const double ratio =
        total.rows == 1 ? total.given_ratio : Share(total.large_packets, total.packets);
    rows.Add(transport, RoundTo(total.size_mb, 4), RoundTo(total.time_ms, 4),
             RoundTo(Share(total.size_mb, total.time_ms), 4), RoundTo(ratio, 4));
  }
  MetricAnswer answer = TrafficAnswer("SELECT * FROM comm_bandwidths", totals.empty());
  answer.tables.push_back(rows.Take());
  return answer;
}

Result<MetricAnswer> CommPackets(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const auto totals, Transports(call));
  SL_ASSIGN_OR_RETURN(const std::string wanted, call.args.TextOr("transport", ""));
  TableRows rows("packets", {TextColumn("Transport Type"), NumberColumn("Package Size(MB)", 6),
                             NumberColumn("Count", 0), NumberColumn("Total Duration(ms)", 4)});
  for (const auto& [transport, total] : totals) {
    if (!wanted.empty() && wanted != transport) continue;
    for (const auto& [size_mb, packets] : total.sizes) {
      rows.Add(transport, size_mb, packets.first, RoundTo(packets.second, 4));
    }
  }
  MetricAnswer answer = TrafficAnswer("SELECT * FROM comm_packets", totals.empty());
  answer.tables.push_back(rows.Take());
  return answer;
}

Result<MetricAnswer> CommMatrix(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const CommScope scope, CommScopeOf(call));
  SL_ASSIGN_OR_RETURN(const int64_t with_inner, call.args.IntOr("inner", 0));
  cluster::Options options;
  options.step = scope.step;
  options.values["full_matrix"] = "1";
  SL_ASSIGN_OR_RETURN(const cluster::Answer recipe,
                      AskRecipe("communication_matrix_sum", options, call.job));
  std::set<std::string, std::less<>> p2p_groups;
  for (const store::TraceStore& rank : call.job.ranks) {
    SL_RETURN_IF_ERROR(StillWanted());
    for (const cluster::GroupUse& use : cluster::UsedGroups(rank)) {
      if (use.is_p2p) p2p_groups.insert(use.name);
    }
  }
  SL_ASSIGN_OR_RETURN(const int64_t pair_src, call.args.IntOr("src", -1));
  SL_ASSIGN_OR_RETURN(const int64_t pair_dst, call.args.IntOr("dst", -1));
  using Key = std::tuple<int64_t, int64_t, std::string_view>;  // src, dst, transport
  std::map<Key, LinkTotal> links;
  TableRows pair("pair", {TextColumn("operator"), TextColumn("Group"), TextColumn("Transport Type"),
                          NumberColumn("Transit Size(MB)", 4), NumberColumn("Transit Time(ms)", 4),
                          NumberColumn("Bandwidth(GB/s)", 4), TextColumn("Op Name")});
  std::set<std::string_view> operators;
  const table::Table* matrix = FindTable(recipe, "ClusterCommunicationMatrix");
  for (size_t row = 0; matrix != nullptr && row < matrix->rows(); ++row) {
    const std::string_view group = TextCell(*matrix, "group_name", row);
    if (!scope.HasGroup(group, p2p_groups.contains(group))) continue;
    const std::string_view op = TextCell(*matrix, "hccl_op_name", row);
    operators.insert(op);
    const auto end = [&](const char* column) {
      const double rank = NumberCell(*matrix, column, row);
      return std::isfinite(rank) ? static_cast<int64_t>(rank) : store::kNone;
    };
    const int64_t src = end("src_rank");
    const int64_t dst = end("dst_rank");
    if (src == pair_src && dst == pair_dst) {
      const double size_mb = NumberCell(*matrix, "transit_size", row);
      const double time_ms = NumberCell(*matrix, "transit_time", row);
      pair.Add(op, group, TextCell(*matrix, "transport_type", row), RoundTo(size_mb, 4),
               RoundTo(time_ms, 4), RoundTo(Share(size_mb, time_ms), 4),
               TextCell(*matrix, "op_name", row));
    }
    if (op != scope.op) continue;
    if (src == dst && with_inner == 0) continue;
    LinkTotal& link = links[{src, dst, TextCell(*matrix, "transport_type", row)}];
    link.size_mb += NumberCell(*matrix, "transit_size", row);
    link.time_ms += NumberCell(*matrix, "transit_time", row);
    link.op_name = TextCell(*matrix, "op_name", row);
    link.is_mapped = NumberCell(*matrix, "mapped", row) > 0;
  }
  TableRows rows("matrix",
                 {IntColumn("src_rank"), IntColumn("dst_rank"), TextColumn("Transport Type"),
                  NumberColumn("Transit Size(MB)", 4), NumberColumn("Transit Time(ms)", 4),
                  NumberColumn("Bandwidth(GB/s)", 4), TextColumn("Op Name"), IntColumn("mapped")});
  for (const auto& [key, link] : links) {
    rows.Add(std::get<0>(key), std::get<1>(key), std::get<2>(key), RoundTo(link.size_mb, 4),
             RoundTo(link.time_ms, 4), RoundTo(Share(link.size_mb, link.time_ms), 4), link.op_name,
             link.is_mapped ? 1 : 0);
  }
  TableRows names("operators", {TextColumn("operator")});
  for (const std::string_view op : operators) names.Add(op);
  MetricAnswer answer;
  answer.definition = "insight.communication_matrix";
  answer.query = "SELECT * FROM comm_links";
  for (const std::string& note : recipe.notes) answer.warnings.push_back(Note(note));
  if (links.empty()) {
    answer.warnings.push_back(Message{"warning.no_links"});
  }
  answer.tables.push_back(rows.Take());
  answer.tables.push_back(names.Take());
  if (pair_src >= 0 && pair_dst >= 0) answer.tables.push_back(pair.Take());
  return answer;
}

}  // namespace steplens::analysis::viewer
