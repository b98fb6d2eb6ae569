#include <fmt/format.h>

#include <algorithm>

#include "analysis/advice/rules/rules.h"
#include "analysis/advice/rules/transfers.h"
#include "analysis/cells.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

Message OperatorCount(size_t count, const std::string& first) {
  return {"finding.operators", {{"count", std::to_string(count)}, {"name", first}}};
}

}  // namespace

std::vector<Finding> FindUnalignedTransfers(const RankEvidence& rank) {
  const auto aligned = static_cast<int64_t>(rank.thresholds().byte_alignment_bytes);
  const std::vector<UnalignedTransfer> found =
      ListUnalignedTransfers(rank.store(), std::max<int64_t>(1, aligned));
  if (found.empty()) return {};
  const UnalignedTransfer& first = found.front();
  Finding finding =
      rank.Make(RuleId::kByteAlignment, {"finding.byte_alignment"},
                OperatorCount(found.size(), first.op), {"finding.byte_alignment.advice"});
  finding.effort = Effort::kModel;
  finding.places = {rank.PlaceOf({first.begin_ns, EndNs(first.begin_ns, first.dur_ns)})};
  finding.evidence = {
      {{"evidence.unaligned", {{"name", first.op}, {"bytes", std::to_string(first.bytes)}}},
       fmt::format("SELECT * FROM comm_tasks WHERE rank = {} AND transport = 'SDMA' "
                   "AND size_bytes % {} <> 0",
                   rank.rank(), aligned)}};
  TableRows rows(rank.DetailName(RuleId::kByteAlignment),
                 {TextColumn("op name"), IntColumn("total size(Byte)"), TimeColumn("duration(us)"),
                  TimeColumn("abnormal duration(us)"), NumberColumn("bandwidth(GB/s)", 4)});
  int64_t all_ns = 0;
  int64_t unaligned_ns = 0;
  for (const UnalignedTransfer& one : found) {
    // Bytes per ns are GB/s.
    const double gbps = Share(static_cast<double>(one.all_bytes), static_cast<double>(one.all_ns));
    rows.Add(one.op, one.all_bytes, one.all_ns, one.unaligned_ns, RoundTo(gbps, 4));
    all_ns = AddNs(all_ns, one.all_ns);
    unaligned_ns = AddNs(unaligned_ns, one.unaligned_ns);
  }
  finding.details = {rows.Take()};
  // Most of the transfer time: worth a look whatever the step takes.
  constexpr double kMediumShare = 0.2;
  if (Share(static_cast<double>(unaligned_ns), static_cast<double>(all_ns)) >= kMediumShare)
    finding.least_priority = Priority::kMedium;
  return {finding};
}

std::vector<Finding> FindContention(const RankEvidence& rank) {
  const double limit_gbps = rank.thresholds().contention_gbps;
  const std::vector<ContendedTransfer> found =
      ListContendedTransfers(rank.store(), rank.communication(), limit_gbps);
  if (found.empty()) return {};
  const ContendedTransfer& first = found.front();
  Finding finding = rank.Make(RuleId::kContention, {"finding.contention"},
                              OperatorCount(found.size(), first.op), {"finding.contention.advice"});
  finding.places = {{rank.rank(), first.times, store::kNoSlice, first.op}};
  finding.evidence = {
      {{"evidence.bandwidth", {{"name", first.op}, {"gbps", fmt::format("{:.1f}", first.gbps)}}},
       fmt::format("SELECT * FROM comm_bandwidths WHERE rank = {} AND op_name = '{}'", rank.rank(),
                   SqlText(first.op))}};
  TableRows rows(
      rank.DetailName(RuleId::kContention),
      {TextColumn("op name"), NumberColumn("duration(ms)", 4), NumberColumn("bandwidth(GB/s)", 4)});
  for (const ContendedTransfer& one : found) rows.Add(one.op, one.elapse_ms, one.gbps);
  finding.details = {rows.Take()};
  return {finding};
}

std::vector<Finding> FindRetransmissions(const RankEvidence& rank) {
  const std::vector<Retransmission> found =
      ListRetransmissions(rank.communication(), rank.thresholds().retransmission_elapse_ms);
  if (found.empty()) return {};
  const Retransmission& first = found.front();
  Finding finding =
      rank.Make(RuleId::kRetransmission, {"finding.retransmission"},
                OperatorCount(found.size(), first.op), {"finding.retransmission.advice"});
  finding.effort = Effort::kHardware;
  finding.least_priority = Priority::kMedium;
  TableRows rows(rank.DetailName(RuleId::kRetransmission),
                 {TextColumn("Communication group"), TextColumn("Op name"), IntColumn("Step id"),
                  IntColumn("Rank id"), NumberColumn("RDMA transmit size(MB)", 4),
                  NumberColumn("RDMA transmit time(ms)", 4), NumberColumn("RDMA bandwidth", 4)});
  for (const CommTraffic& row : rank.communication().traffic) {
    if (row.transport != "RDMA" || !(row.size_mb > 0)) continue;
    if (row.time_ms <= rank.thresholds().retransmission_elapse_ms) continue;
    const bool is_found = std::any_of(found.begin(), found.end(), [&](const Retransmission& one) {
      return one.group == row.group && one.op == row.op;
    });
    if (is_found)
      rows.Add(row.group, row.op, row.step, row.rank, row.size_mb, row.time_ms, row.bandwidth_gbps);
  }
  finding.details = {rows.Take()};
  finding.evidence = {
      {{"evidence.elapse",
        {{"name", first.op}, {"time", fmt::format("{:.0f} ms", first.elapse_ms)}}},
       fmt::format("SELECT * FROM comm_times WHERE op_name = '{}'", SqlText(first.op))}};
  return {finding};
}

}  // namespace steplens::analysis
