#include <fmt/format.h>

#include "analysis/advice/rules/rules.h"
#include "analysis/advice/rules/transfers.h"
#include "analysis/sql_text.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

Message OperatorCount(size_t count, const std::string& first) {
  return {"finding.operators", {{"count", std::to_string(count)}, {"name", first}}};
}

}  // namespace

std::vector<Finding> FindUnalignedTransfers(const RankEvidence& rank) {
  const std::vector<UnalignedTransfer> found = ListUnalignedTransfers(rank.store());
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
                   "AND size_bytes % 512 <> 0",
                   rank.rank())}};
  return {finding};
}

std::vector<Finding> FindContention(const RankEvidence& rank) {
  const std::vector<ContendedTransfer> found =
      ListContendedTransfers(rank.store(), rank.communication());
  if (found.empty()) return {};
  const ContendedTransfer& first = found.front();
  const store::CommOpTable& ops = rank.store().comm_ops;
  Finding finding = rank.Make(RuleId::kContention, {"finding.contention"},
                              OperatorCount(found.size(), first.op), {"finding.contention.advice"});
  finding.places = {
      {rank.rank(),
       {ops.begin_ns[first.comm_op], EndNs(ops.begin_ns[first.comm_op], ops.dur_ns[first.comm_op])},
       store::kNoSlice,
       first.op}};
  finding.evidence = {
      {{"evidence.bandwidth", {{"name", first.op}, {"gbps", fmt::format("{:.1f}", first.gbps)}}},
       fmt::format("SELECT * FROM comm_bandwidths WHERE rank = {} AND op_name = '{}'", rank.rank(),
                   SqlText(first.op))}};
  return {finding};
}

std::vector<Finding> FindRetransmissions(const RankEvidence& rank) {
  const std::vector<Retransmission> found = ListRetransmissions(rank.communication());
  if (found.empty()) return {};
  const Retransmission& first = found.front();
  Finding finding =
      rank.Make(RuleId::kRetransmission, {"finding.retransmission"},
                OperatorCount(found.size(), first.op), {"finding.retransmission.advice"});
  finding.effort = Effort::kHardware;
  finding.evidence = {
      {{"evidence.elapse",
        {{"name", first.op}, {"time", fmt::format("{:.0f} ms", first.elapse_ms)}}},
       fmt::format("SELECT * FROM comm_times WHERE op_name = '{}'", SqlText(first.op))}};
  return {finding};
}

}  // namespace steplens::analysis
