#include "analysis/cluster/summary/summary_part.h"

#include <cmath>
#include <map>
#include <tuple>

#include "analysis/breakdown/step_table.h"
#include "analysis/breakdown/step_times.h"
#include "analysis/classify/cpu_words.h"
#include "analysis/cluster/group_name.h"
#include "analysis/cluster/step_window.h"
#include "analysis/cluster/summary/small_packets.h"
#include "analysis/collectives/group_sizes.h"
#include "analysis/collectives/job_call_times.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"
#include "store/step_values.h"

namespace steplens::analysis::cluster {
namespace {

using store::TraceStore;

// Times of result files. One that no capture can have counts as 0, as one that is not known does.
int64_t UsableNs(double ns) {
  return std::fabs(ns) <= static_cast<double>(kLatestNs) ? std::llround(ns) : 0;
}
int64_t MsToNs(double ms) { return UsableNs(ms * 1e6); }
double StepUs(double value_us) { return KnownOrZero(store::UsableStepUs(value_us)); }

std::vector<StepLoad> ReadSteps(const RankView& rank, const Options& options) {
  std::vector<StepLoad> out;
  for (const StepRow& times : ReadStepTable(rank)) {
    if (options.step && times.step != *options.step) continue;
    out.push_back({times.step, StepUs(times.computing_us), StepUs(times.comm_not_overlapped_us),
                   StepUs(times.free_us), StepUs(times.stage_us), StepUs(times.bubble_us),
                   times.memory_us});
  }
  return out;
}

int64_t ReadStepTime(const RankView& rank, const Options& options) {
  if (rank.store().step_traces.size() > 0) return store::kNone;
  const std::vector<StepTime> times = StepTimesOf(rank);
  if (!options.step) return MeanStepTime(times).ns();
  for (const StepTime& time : times) {
    if (time.step == *options.step) return time.ns();
  }
  return store::kNone;
}

// What the transfers of each call lost to small packets, by (group, operation, step).
using SmallByCall = std::map<std::tuple<StringId, StringId, StringId>, std::pair<double, StringId>>;

// As a share of the transfer, with the transport.
SmallByCall ReadSmall(const TraceStore& rank) {
  const store::CommBandwidthTable& rows = rank.comm_bandwidths;
  std::vector<double> all_ms(rows.size(), 0);
  std::vector<double> small_ms(rows.size(), 0);
  for (size_t i = 0; i < rank.comm_packets.size(); ++i) {
    const size_t row = rank.comm_packets.bandwidth_row[i];
    if (row >= rows.size()) continue;
    const double ms = KnownOrZero(rank.comm_packets.total_ms[i]);
    const double size_mb = KnownOrZero(rank.comm_packets.package_size_mb[i]);
    all_ms[row] += ms;
    if (size_mb < LargePacketMb(std::string(rank.Text(rows.transport[row])))) small_ms[row] += ms;
  }
  // A call over two kinds of links is not faster than the other kind of them, however large the
  // packets of the one are.
  const auto is_rdma = [&](size_t i) { return rank.Text(rows.transport[i]) == "RDMA"; };
  const auto gbps = [&](size_t i) {
    const double ms = KnownOrZero(rows.transit_ms[i]);
    return ms > 0 ? KnownOrZero(rows.transit_size_mb[i]) / ms : 0;
  };
  const auto key = [&](size_t i) {
    return std::tuple(rows.group_name[i], rows.op_name[i], rows.step[i]);
  };
  std::map<std::pair<std::tuple<StringId, StringId, StringId>, bool>, double> slowest;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (gbps(i) <= 0) continue;
    double& least = slowest.try_emplace({key(i), is_rdma(i)}, gbps(i)).first->second;
    least = std::min(least, gbps(i));
  }
  SmallByCall out;
  for (size_t i = 0; i < rows.size(); ++i) {
    double share = SmallPacketLoss(std::string(rank.Text(rows.transport[i])),
                                   KnownOrZero(rows.transit_size_mb[i]),
                                   KnownOrZero(rows.transit_ms[i]), all_ms[i], small_ms[i]);
    const auto other = slowest.find({key(i), !is_rdma(i)});
    if (share > 0 && other != slowest.end()) share = std::min(share, 1 - gbps(i) / other->second);
    if (share <= 0) continue;
    auto& [most, transport] = out[{rows.group_name[i], rows.op_name[i], rows.step[i]}];
    if (share <= most) continue;
    most = share;
    transport = rows.transport[i];
  }
  return out;
}

// "step10" for a time in a step of the timeline; empty outside of all.
std::string StepAt(const TraceStore& rank, int64_t ts_ns) {
  const store::StepTable& steps = rank.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (ts_ns >= steps.begin_ns[i] && ts_ns <= steps.end_ns[i] && steps.step[i] != store::kNone)
      return "step" + std::to_string(steps.step[i]);
  }
  return {};
}

// From the communication results or, without them, from the timeline.
void ReadCalls(const TraceStore& rank, const Options& options, SummaryPart& part) {
  TextNumbers number(rank, part.texts);
  number(StringId::kEmpty);
  const store::CommTimeTable& times = rank.comm_times;
  const SmallByCall small = ReadSmall(rank);
  // Where a row names no step, as in results of MindSpore and msprof, the timeline may.
  std::map<std::string, uint32_t> step_numbers;
  const auto text_of = [&](const std::string& step) {
    const auto [place, is_new] =
        step_numbers.try_emplace(step, static_cast<uint32_t>(part.texts.size()));
    if (is_new) part.texts.push_back(step);
    return place->second;
  };
  const auto step_at = [&](int64_t ts_ns) { return text_of(StepAt(rank, ts_ns)); };
  for (size_t i = 0; i < times.size(); ++i) {
    const std::string_view op = rank.Text(times.op_name[i]);
    if (op.starts_with("Total") || !IsWantedStep(rank.Text(times.step[i]), options)) continue;
    CallPart& call = part.calls.emplace_back();
    call.group = number(times.group_name[i]);
    call.op = number(times.op_name[i]);
    call.start_ns = UsableNs(times.start_us[i] * 1000);
    call.step = rank.Text(times.step[i]).empty() ? step_at(call.start_ns) : number(times.step[i]);
    call.is_p2p = IsP2pName(op);
    call.dur_ns = MsToNs(times.elapse_ms[i]);
    call.transit_ns = MsToNs(times.transit_ms[i]);
    call.wait_ns = MsToNs(times.wait_ms[i]);
    const auto loss = small.find({times.group_name[i], times.op_name[i], times.step[i]});
    if (loss == small.end()) continue;
    call.small_ns = std::llround(static_cast<double>(call.transit_ns) * loss->second.first);
    call.small_transport = number(loss->second.second);
  }
  if (times.size() > 0) {
    if (!ResultsDivideCalls(rank)) {
      for (CallPart& call : part.calls) call.transit_ns = call.wait_ns = store::kNone;
    }
    return;
  }
  const StepWindow window = FindStepWindow(rank, options);
  const store::CommOpTable& ops = rank.comm_ops;
  const std::vector<std::optional<RecordedTimes>> recorded = RecordedCalls(rank);
  // Work of a device belongs to the step that launched it. Without a counter in the name (NCCL),
  // the n-th call of a name in a group and step is the same everywhere.
  const std::vector<StepRange> steps = ComputeStepRanges(rank);
  StepFinder finder(steps);
  std::map<std::tuple<StringId, StringId, uint32_t>, int64_t> seen;
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto in_step = finder.Find(ops.begin_ns[i]);
    const uint32_t step =
        text_of(in_step ? "step" + std::to_string(steps[*in_step].step) : std::string());
    const int64_t n = seen[{ops.group_name[i], ops.name[i], step}]++;
    if (!window.Contains(ops.begin_ns[i])) continue;
    const std::string_view name = rank.Text(ops.name[i]);
    CallPart call;
    call.group = number(ops.group_name[i]);
    call.op = static_cast<uint32_t>(part.texts.size());
    part.texts.push_back(name.starts_with("hcom_") ? std::string(name)
                                                   : std::string(name) + "#" + std::to_string(n));
    call.step = step;
    call.is_p2p = IsP2pName(name);
    call.start_ns = ops.begin_ns[i];
    call.dur_ns = ops.dur_ns[i];
    if (recorded[i]) {
      call.transit_ns = recorded[i]->transit_ns;
      call.wait_ns = recorded[i]->wait_ns;
    }
    part.calls.push_back(call);
  }
}

// Packets are the unit of an accelerator's links. A recording of gloo has none: its files give the
// size of each call instead.
void ReadPackets(const TraceStore& rank, const Options& options, SummaryPart& part) {
  if (IsCpuCapture(rank)) return;
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

// The rank's links with others, over all operations of a kind and all steps, by first sight. The
// step of a sum is that of its first row.
std::vector<LinkRow> TotalLinks(const LinkPart& part) {
  std::vector<bool> is_total;
  for (const std::string& text : part.texts) is_total.push_back(text.ends_with("total"));
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, int64_t, int64_t>, size_t> places;
  std::vector<LinkRow> out;
  for (const LinkRow& row : part.links) {
    if (row.op >= is_total.size() || !is_total[row.op] || row.src == row.dst) continue;
    const auto [place, is_new] = places.try_emplace(
        std::tuple(row.group, row.transport, row.op, row.src, row.dst), out.size());
    if (is_new) {
      out.push_back(row);
    } else {
      out[place->second].size_mb += row.size_mb;
      out[place->second].time_ms += row.time_ms;
    }
  }
  return out;
}

}  // namespace

SummaryPart ReadSummary(const TraceStore& rank, const RankFacts& facts, const Options& options) {
  SummaryPart part;
  const RankView view(rank);
  part.steps = ReadSteps(view, options);
  part.step_time_ns = ReadStepTime(view, options);
  ReadCalls(rank, options, part);
  part.links = ReadLinks(rank, facts, options, /*all_links=*/false);
  part.links.links = TotalLinks(part.links);
  ReadPackets(rank, options, part);
  part.group_sizes = GroupSizesOf(rank);
  return part;
}

}  // namespace steplens::analysis::cluster
