#include "analysis/cluster/summary/summary_part.h"

#include <cmath>
#include <map>

#include "analysis/breakdown/breakdown.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/step_window.h"
#include "analysis/cluster/summary/small_packets.h"

namespace steplens::analysis::cluster {
namespace {

using store::TraceStore;

int64_t MsToNs(double ms) { return std::llround(KnownOrZero(ms) * 1e6); }

std::vector<StepLoad> ReadSteps(const TraceStore& rank, const Options& options) {
  std::vector<StepLoad> out;
  const auto add = [&](const StepLoad& load) {
    if (!options.step || load.step == *options.step) out.push_back(load);
  };
  const store::StepTraceTable& traces = rank.step_traces;
  for (size_t i = 0; i < traces.size(); ++i) {
    add({traces.step[i], KnownOrZero(traces.computing_us[i]),
         KnownOrZero(traces.comm_not_overlapped_us[i]), KnownOrZero(traces.free_us[i]),
         KnownOrZero(traces.stage_us[i]), KnownOrZero(traces.bubble_us[i])});
  }
  if (traces.size() > 0) return out;
  const table::Table breakdown = StepBreakdown({&rank, 1}, {});
  const auto us = [&](const char* column, size_t row) {
    return static_cast<double>(breakdown.Find(column)->ints[row]) / 1000;
  };
  for (size_t row = 0; row < breakdown.rows(); ++row) {
    add({breakdown.Find("Step")->ints[row], us("Computing", row),
         us("Communication(Not Overlapped)", row), us("Free", row), us("Stage", row),
         us("Bubble", row)});
  }
  return out;
}

// From the communication results or, without them, from the timeline.
void ReadCalls(const TraceStore& rank, const Options& options, SummaryPart& part) {
  TextNumbers number(rank, part.texts);
  number(StringId::kEmpty);
  const store::CommTimeTable& times = rank.comm_times;
  for (size_t i = 0; i < times.size(); ++i) {
    const std::string_view op = rank.Text(times.op_name[i]);
    if (op.starts_with("Total") || !IsWantedStep(rank.Text(times.step[i]), options)) continue;
    part.calls.push_back({number(times.group_name[i]), number(times.op_name[i]),
                          number(times.step[i]), IsP2pName(op), MsToNs(times.elapse_ms[i]),
                          MsToNs(times.transit_ms[i]), MsToNs(times.wait_ms[i])});
  }
  if (times.size() > 0) return;
  const StepWindow window = FindStepWindow(rank, options);
  const store::CommOpTable& ops = rank.comm_ops;
  // Without a counter in the name (NCCL), the n-th call of a name in a group is the same
  // everywhere.
  std::map<std::pair<StringId, StringId>, int64_t> seen;
  for (size_t i = 0; i < ops.size(); ++i) {
    const int64_t n = seen[{ops.group_name[i], ops.name[i]}]++;
    if (!window.Contains(ops.begin_ns[i])) continue;
    const std::string_view name = rank.Text(ops.name[i]);
    CallPart call;
    call.group = number(ops.group_name[i]);
    call.op = static_cast<uint32_t>(part.texts.size());
    part.texts.push_back(name.starts_with("hcom_") ? std::string(name)
                                                   : std::string(name) + "#" + std::to_string(n));
    call.is_p2p = IsP2pName(name);
    call.dur_ns = ops.dur_ns[i];
    part.calls.push_back(call);
  }
}

void ReadPackets(const TraceStore& rank, const Options& options, SummaryPart& part) {
  const CommunicationPart communication = ReadCommunication(rank, options);
  std::map<std::string, PacketPart> totals;
  for (const CommBandwidthRow& row : communication.bandwidths) {
    if (row.packets.empty()) continue;  // a transport above others (SDMA) repeats their sizes
    const std::string& transport = communication.Text(row.transport);
    PacketPart& total = totals[transport];
    total.size_mb += row.size_mb;
    total.time_ms += row.time_ms;
    for (const CommPacket& packet : row.packets) {
      total.packets_ms += packet.total_ms;
      if (packet.size_mb < LargePacketMb(transport)) total.small_ms += packet.total_ms;
    }
  }
  for (auto& [transport, total] : totals) {
    total.transport = static_cast<uint32_t>(part.texts.size());
    part.texts.push_back(transport);
    part.packets.push_back(total);
  }
}

}  // namespace

SummaryPart ReadSummary(const TraceStore& rank, const RankFacts& facts, const Options& options) {
  SummaryPart part;
  part.steps = ReadSteps(rank, options);
  ReadCalls(rank, options, part);
  part.links = ReadLinks(rank, facts, options, /*all_links=*/false);
  std::erase_if(part.links.links, [&](const LinkRow& row) {
    return !part.links.Text(row.op).ends_with("total") || row.src == row.dst;
  });
  ReadPackets(rank, options, part);
  return part;
}

}  // namespace steplens::analysis::cluster
