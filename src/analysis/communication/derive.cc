#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "analysis/communication/communication.h"
#include "analysis/communication/matrix.h"
#include "analysis/communication/transfers.h"
#include "analysis/communication/units.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNone;
using store::TraceStore;

double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

// The tasks of the plane whose times stand for the operation.
std::vector<uint32_t> MasterTasks(const TraceStore& store, const std::vector<uint32_t>& tasks) {
  constexpr int64_t kMasterPlane = 1;  // where no flag says it
  const auto pick = [&](const auto& is_wanted) {
    std::vector<uint32_t> picked;
    std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(picked), is_wanted);
    return picked;
  };
  auto master = pick([&](uint32_t row) { return store.comm_tasks.is_master[row] == 1; });
  if (master.empty())
    master = pick([&](uint32_t row) { return store.comm_tasks.plane[row] == kMasterPlane; });
  return master.empty() ? tasks : master;
}

void AddTransfer(OperationFacts& operation, const Transfer& transfer) {
  if (transfer.transport == "LOCAL") return;  // does not leave the chip
  const double size_mb = static_cast<double>(transfer.size_bytes) / kBytesPerMb;
  const double ms = static_cast<double>(transfer.dur_ns) / kNsPerMs;
  for (TransportFacts& transport : operation.transports) {
    if (transport.transport != transfer.transport) continue;
    transport.transit_size_mb += size_mb;
    transport.transit_ms += ms;
    const auto packet = std::find_if(transport.packets.begin(), transport.packets.end(),
                                     [&](const PacketFacts& p) { return p.size_mb == size_mb; });
    PacketFacts& sum =
        packet != transport.packets.end() ? *packet : transport.packets.emplace_back();
    sum = {size_mb, sum.count + 1, sum.total_ms + ms};
  }
}

// The traffic over HCCS, PCIE and SIO is also traffic by SDMA.
void FinishTransports(OperationFacts& operation) {
  const auto find = [&](std::string_view name) -> TransportFacts& {
    return *std::find_if(operation.transports.begin(), operation.transports.end(),
                         [&](const TransportFacts& t) { return t.transport == name; });
  };
  TransportFacts& sdma = find("SDMA");
  for (const std::string_view name : {"HCCS", "PCIE", "SIO"}) {
    sdma.transit_size_mb += find(name).transit_size_mb;
    sdma.transit_ms += find(name).transit_ms;
  }
  for (TransportFacts& transport : operation.transports) {
    const double large_mb = transport.transport == "RDMA" ? 0.5 : 32;
    double large = 0;
    double all = 0;
    for (const PacketFacts& packet : transport.packets) {
      all += packet.count;
      if (packet.size_mb > large_mb) large += packet.count;
    }
    transport.large_packet_ratio = all > 0 ? large / all : 0;
    if (transport.transit_ms > 0)
      transport.bandwidth_gbps = Rounded(transport.transit_size_mb / transport.transit_ms);
  }
}

// An operation that only its own range is known of. How it was cut into packets is not. Where a
// host's own network is the device, its data is what moved; what an NPU's links carried is said by
// tasks alone.
void FillWithoutTasks(const TraceStore& store, size_t op, OperationFacts& operation) {
  operation.transit_ms = operation.elapse_ms;
  const int64_t size_bytes =
      store::IsRaw(store.info.format) ? store.comm_ops.size_bytes[op] : kNone;
  for (TransportFacts& transport : operation.transports) {
    if (size_bytes <= 0 || transport.transport != "SDMA") continue;
    transport.transit_size_mb = static_cast<double>(size_bytes) / kBytesPerMb;
    transport.transit_ms = operation.elapse_ms;
  }
}

// Times of the master plane. `tasks` are those of the operation, at least one.
void FillTimes(const TraceStore& store, const std::vector<uint32_t>& tasks,
               OperationFacts& operation) {
  const std::vector<uint32_t> master = MasterTasks(store, tasks);
  const bool is_flagged = store.comm_tasks.is_master[master.front()] == 1;
  int64_t first_transfer_ns = std::numeric_limits<int64_t>::max();
  for (const Transfer& transfer : FindTransfers(store, master, operation.name)) {
    if (transfer.transport == "LOCAL") continue;
    operation.transit_ms += static_cast<double>(transfer.dur_ns) / kNsPerMs;
    first_transfer_ns = std::min(first_transfer_ns, transfer.begin_ns);
  }
  int64_t end_ns = 0;
  for (const uint32_t row : master) {
    end_ns = std::max(end_ns, EndNs(store.comm_tasks.begin_ns[row], store.comm_tasks.dur_ns[row]));
    if (store.Text(store.comm_tasks.name[row]) != "Notify_Wait") continue;
    const double ms = static_cast<double>(store.comm_tasks.dur_ns[row]) / kNsPerMs;
    operation.wait_ms += ms;
    if (store.comm_tasks.begin_ns[row] < first_transfer_ns) operation.synchronization_ms += ms;
  }
  const int64_t begin_ns = store.comm_tasks.begin_ns[master.front()];
  // Without the flag the times of the whole operation stand for it.
  if (!is_flagged) return;
  operation.start_us = static_cast<double>(begin_ns) / 1000;
  operation.elapse_ms = static_cast<double>(end_ns - begin_ns) / kNsPerMs;
}

OperationFacts DescribeOperation(const TraceStore& store, size_t op,
                                 const std::vector<uint32_t>& tasks) {
  OperationFacts operation = SumOperations({});  // all kinds of links, nothing on them
  operation.name = store.Text(store.comm_ops.name[op]);
  operation.group = store.Text(store.comm_ops.group_name[op]);
  operation.start_us = static_cast<double>(store.comm_ops.begin_ns[op]) / 1000;
  operation.elapse_ms = static_cast<double>(store.comm_ops.dur_ns[op]) / kNsPerMs;
  for (TransportFacts& transport : operation.transports)
    transport.bandwidth_gbps = transport.large_packet_ratio = 0;
  if (tasks.empty()) {
    FillWithoutTasks(store, op, operation);
  } else {
    FillTimes(store, tasks, operation);
    for (const Transfer& transfer : FindTransfers(store, tasks, operation.name))
      AddTransfer(operation, transfer);
  }
  FinishTransports(operation);
  operation.idle_ms = std::max(0.0, operation.elapse_ms - operation.transit_ms - operation.wait_ms);
  operation.wait_ratio = CommunicationRatio(operation.wait_ms, operation.transit_ms);
  operation.synchronization_ratio =
      CommunicationRatio(operation.synchronization_ms, operation.transit_ms);
  return operation;
}

// Which step an operation counts for: the one that holds its start, both ends included; the only
// one if there is one.
std::optional<size_t> StepOf(const std::vector<StepRange>& ranges, int64_t begin_ns) {
  if (ranges.size() <= 1) return 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin_ns <= begin_ns && begin_ns <= ranges[i].end_ns) return i;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::optional<OperationFacts>> TimesByTasks(const TraceStore& store) {
  std::vector<std::optional<OperationFacts>> out(store.comm_ops.size());
  if (store.comm_tasks.size() == 0) return out;
  const std::vector<std::vector<uint32_t>> tasks = AssignCommTasks(store);
  for (size_t op = 0; op < out.size(); ++op) {
    if (tasks[op].empty()) continue;
    OperationFacts& operation = out[op].emplace();
    operation.name = store.Text(store.comm_ops.name[op]);
    operation.elapse_ms = static_cast<double>(store.comm_ops.dur_ns[op]) / kNsPerMs;
    FillTimes(store, tasks[op], operation);
  }
  return out;
}

std::vector<CommunicationStep> DeriveCommunication(const TraceStore& store) {
  if (store.comm_ops.size() == 0) return {};
  const bool is_mindspore = store::IsMindSpore(store.info.source);
  const std::vector<StepRange> ranges = ComputeStepRanges(store);
  std::vector<CommunicationStep> steps(std::max<size_t>(1, ranges.size()));
  for (size_t i = 0; i < ranges.size(); ++i)
    steps[i].step = "step" + std::to_string(ranges[i].step);
  if (ranges.empty()) steps[0].step = is_mindspore ? "step0" : "step";

  std::vector<MatrixBuilder> p2p_links(steps.size(), MatrixBuilder(is_mindspore, true));
  std::vector<MatrixBuilder> collective_links(steps.size(), MatrixBuilder(is_mindspore, false));
  const std::vector<std::vector<uint32_t>> tasks = AssignCommTasks(store);
  for (size_t op = 0; op < store.comm_ops.size(); ++op) {
    const auto step = StepOf(ranges, store.comm_ops.begin_ns[op]);
    if (!step) continue;
    OperationFacts operation = DescribeOperation(store, op, tasks[op]);
    const bool is_p2p = IsPointToPoint(operation.name, is_mindspore);
    MatrixBuilder& links = (is_p2p ? p2p_links : collective_links)[*step];
    links.Add(operation.name, operation.group, FindTransfers(store, tasks[op], operation.name));
    CommunicationClass& of = is_p2p ? steps[*step].p2p : steps[*step].collective;
    of.operations.push_back(std::move(operation));
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].p2p.total = SumOperations(steps[i].p2p.operations);
    steps[i].p2p.matrix = p2p_links[i].Finish();
    steps[i].collective.total = SumOperations(steps[i].collective.operations);
    steps[i].collective.matrix = collective_links[i].Finish();
  }
  return steps;
}

}  // namespace steplens::analysis
