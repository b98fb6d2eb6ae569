#include <algorithm>
#include <map>

#include "analysis/advice/rules/transfers.h"
#include "analysis/cells.h"
#include "analysis/classify/cpu_words.h"
#include "analysis/collectives/comm_data.h"
#include "analysis/viewer/metrics.h"

// The Communication page: what to look at, by the rules of the reference viewer.

namespace steplens::analysis::viewer {
namespace {

using store::TraceStore;

// Bandwidth of each rank over each transport, and how ranks compare.
table::Table BandwidthTable(const CommData& data) {
  std::map<std::string, std::map<int64_t, std::pair<double, double>>> sums;  // size, time
  for (const CommTraffic& row : data.traffic) {
    auto& [size_mb, time_ms] = sums[row.transport][row.rank];
    size_mb += row.size_mb;
    time_ms += row.time_ms;
  }
  TableRows rows("bandwidth",
                 {TextColumn("Transport Type"), NumberColumn("Max(GB/s)", 4),
                  NumberColumn("Min(GB/s)", 4), NumberColumn("Avg(GB/s)", 4),
                  NumberColumn("Difference(GB/s)", 4), NumberColumn("Total Time(ms)", 4)});
  for (const auto& [transport, ranks] : sums) {
    double highest = 0;
    double lowest = 0;
    double sum = 0;
    double time_ms = 0;
    size_t count = 0;
    for (const auto& [rank, size_and_time] : ranks) {
      if (size_and_time.second <= 0) continue;
      const double gbps = size_and_time.first / size_and_time.second;
      highest = count == 0 ? gbps : std::max(highest, gbps);
      lowest = count == 0 ? gbps : std::min(lowest, gbps);
      sum += gbps;
      time_ms += size_and_time.second;
      ++count;
    }
    if (count == 0) continue;
    rows.Add(transport, RoundTo(highest, 4), RoundTo(lowest, 4),
             RoundTo(sum / static_cast<double>(count), 4), RoundTo(highest - lowest, 4),
             RoundTo(time_ms, 4));
  }
  return rows.Take();
}

table::Table PacketTable(const CommData& data) {
  TableRows rows("packet", {TextColumn("Transport Type"), NumberColumn("Small Packet(%)", 2),
                            NumberColumn("Small Packet Time(ms)", 4), IntColumn("Rows"),
                            TextColumn("Result")});
  for (const auto& [transport, small_mb] : {std::pair("SDMA", 16.0), {"RDMA", 1.0}}) {
    size_t all = 0;
    size_t small = 0;
    double small_ms = 0;
    for (const CommTraffic& row : data.traffic) {
      if (row.transport != transport || row.size_mb <= 0) continue;
      ++all;
      if (row.size_mb >= small_mb) continue;
      ++small;
      small_ms += row.time_ms;
    }
    if (all == 0) continue;
    const double share = 100 * static_cast<double>(small) / static_cast<double>(all);
    rows.Add(transport, RoundTo(share, 2), RoundTo(small_ms, 4), all, share > 20 ? "Issue" : "OK");
  }
  return rows.Take();
}

table::Table AlignmentTable(const store::Job& job) {
  TableRows rows("byte_alignment", {IntColumn("rank"), TextColumn("operator"), IntColumn("tasks"),
                                    IntColumn("Size(B)")});
  for (const TraceStore& rank : job.ranks) {
    for (const UnalignedTransfer& one : ListUnalignedTransfers(rank))
      rows.Add(rank.info.rank, one.op, one.tasks, one.bytes);
  }
  return rows.Take();
}

table::Table ContentionTable(const store::Job& job, const CommData& data) {
  TableRows rows("contention", {IntColumn("rank"), TextColumn("operator"),
                                NumberColumn("Bandwidth(GB/s)", 4), TimeColumn("overlap_us")});
  for (const TraceStore& rank : job.ranks) {
    for (const ContendedTransfer& one : ListContendedTransfers(rank, data))
      rows.Add(rank.info.rank, one.op, RoundTo(one.gbps, 4), one.shared_ns);
  }
  return rows.Take();
}

table::Table RetransmissionTable(const CommData& data) {
  TableRows rows("retransmission",
                 {TextColumn("group"), TextColumn("operator"), NumberColumn("Min Elapse(ms)", 4),
                  NumberColumn("Max RDMA Transit(ms)", 4)});
  for (const Retransmission& one : ListRetransmissions(data))
    rows.Add(one.group, one.op, RoundTo(one.elapse_ms, 4), RoundTo(one.transit_ms, 4));
  return rows.Take();
}

}  // namespace

Result<MetricAnswer> CommAdvice(const MetricCall& call) {
  SL_ASSIGN_OR_RETURN(const CommScope scope, CommScopeOf(call));
  const CommData data = ReadCommData(call.job, scope);
  MetricAnswer answer;
  answer.definition = "insight.communication_advice";
  answer.query = "SELECT * FROM comm_bandwidths";
  answer.tables.push_back(BandwidthTable(data));
  // Packets are the unit of an accelerator's links; a recording of gloo has none.
  const bool has_packets = std::any_of(call.job.ranks.begin(), call.job.ranks.end(),
                                       [](const TraceStore& rank) { return !IsCpuCapture(rank); });
  answer.tables.push_back(PacketTable(has_packets ? data : CommData{}));
  answer.tables.push_back(AlignmentTable(call.job));
  answer.tables.push_back(ContentionTable(call.job, data));
  answer.tables.push_back(RetransmissionTable(data));
  if (data.traffic.empty()) {
    answer.warnings.push_back(Message{"warning.no_rank_bandwidths"});
  }
  return answer;
}

}  // namespace steplens::analysis::viewer
