#include "analysis/communication/communication.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

namespace steplens::analysis {
namespace {

using store::TraceStore;

constexpr std::string_view kTransports[] = {"RDMA", "HCCS", "PCIE", "SDMA", "SIO"};

double ValueOr(double value, double other) { return std::isnan(value) ? other : value; }

// Finds the entry of a name, or adds one; entries keep the order of their first appearance.
template <typename Entry, typename IsIt, typename Make>
Entry& FindOrAdd(std::vector<Entry>& entries, const IsIt& is_it, const Make& make) {
  const auto found = std::find_if(entries.begin(), entries.end(), is_it);
  return found != entries.end() ? *found : entries.emplace_back(make());
}

void AddPackets(std::vector<PacketFacts>& to, const std::vector<PacketFacts>& from) {
  for (const PacketFacts& packet : from) {
    PacketFacts& sum = FindOrAdd(
        to, [&](const PacketFacts& p) { return p.size_mb == packet.size_mb; },
        [&] { return PacketFacts{packet.size_mb, 0, 0}; });
    sum.count += packet.count;
    sum.total_ms += packet.total_ms;
  }
}

// Gives an operation all kinds of links, in the order of the files.
void FillTransports(OperationFacts& operation) {
  std::vector<TransportFacts> all;
  for (const std::string_view name : kTransports) {
    const auto found =
        std::find_if(operation.transports.begin(), operation.transports.end(),
                     [&](const TransportFacts& transport) { return transport.transport == name; });
    if (found == operation.transports.end()) {
      all.push_back({.transport = std::string(name)});
    } else {
      all.push_back(std::move(*found));
      operation.transports.erase(found);
    }
  }
  for (TransportFacts& other : operation.transports) all.push_back(std::move(other));
  operation.transports = std::move(all);
}

// Reads the tables as they are.
class StoredCommunication {
 public:
  explicit StoredCommunication(const TraceStore& store) : store_(store) {}

  std::vector<CommunicationStep> Collect() {
    for (size_t row = 0; row < store_.comm_times.size(); ++row) AddTime(row);
    for (size_t row = 0; row < store_.comm_bandwidths.size(); ++row) AddBandwidth(row);
    for (size_t row = 0; row < store_.comm_packets.size(); ++row) AddPacket(row);
    for (size_t row = 0; row < store_.comm_links.size(); ++row) AddLink(row);
    for (CommunicationStep& step : steps_) {
      Finish(step.p2p);
      Finish(step.collective);
    }
    return std::move(steps_);
  }

 private:
  struct Place {  // of an operation
    size_t step;
    bool is_p2p;
    size_t operation;
  };
  using Key = std::tuple<StringId, StringId, StringId, StringId>;  // step, kind, name, group

  CommunicationStep& Step(StringId id) {
    const std::string_view text = store_.Text(id);
    return FindOrAdd(
        steps_, [&](const CommunicationStep& step) { return step.step == text; },
        [&] { return CommunicationStep{.step = std::string(text), .p2p = {}, .collective = {}}; });
  }
  CommunicationClass& Class(StringId step, StringId kind) {
    CommunicationStep& found = Step(step);
    return store_.Text(kind) == "p2p" ? found.p2p : found.collective;
  }
  OperationFacts& At(const Place& place) {
    CommunicationStep& step = steps_[place.step];
    return (place.is_p2p ? step.p2p : step.collective).operations[place.operation];
  }

  void AddTime(size_t row) {
    const store::CommTimeTable& times = store_.comm_times;
    const std::string_view name = store_.Text(times.op_name[row]);
    CommunicationClass& of = Class(times.step[row], times.kind[row]);
    if (name == kTotalOpInfo) return;  // summed up again
    OperationFacts& operation = of.operations.emplace_back();
    operation.name = name;
    operation.group = store_.Text(times.group_name[row]);
    operation.start_us = times.start_us[row];
    operation.elapse_ms = ValueOr(times.elapse_ms[row], 0);
    operation.transit_ms = ValueOr(times.transit_ms[row], 0);
    operation.wait_ms = ValueOr(times.wait_ms[row], 0);
    operation.synchronization_ms = ValueOr(times.synchronization_ms[row], 0);
    operation.idle_ms = ValueOr(times.idle_ms[row], 0);
    operation.wait_ratio =
        ValueOr(times.wait_ratio[row], CommunicationRatio(operation.wait_ms, operation.transit_ms));
    operation.synchronization_ratio =
        ValueOr(times.synchronization_ratio[row],
                CommunicationRatio(operation.synchronization_ms, operation.transit_ms));
    const bool is_p2p = store_.Text(times.kind[row]) == "p2p";
    const auto step = static_cast<size_t>(&Step(times.step[row]) - steps_.data());
    places_[{times.step[row], times.kind[row], times.op_name[row], times.group_name[row]}] = {
        step, is_p2p, of.operations.size() - 1};
  }

  void AddBandwidth(size_t row) {
    const store::CommBandwidthTable& rows = store_.comm_bandwidths;
    transport_of_.emplace_back(nullptr, 0);
    const auto place =
        places_.find({rows.step[row], rows.kind[row], rows.op_name[row], rows.group_name[row]});
    if (place == places_.end()) return;
    OperationFacts& operation = At(place->second);
    transport_of_.back() = {&operation, operation.transports.size()};
    operation.transports.push_back({.transport = std::string(store_.Text(rows.transport[row])),
                                    .transit_size_mb = ValueOr(rows.transit_size_mb[row], 0),
                                    .transit_ms = ValueOr(rows.transit_ms[row], 0),
                                    .bandwidth_gbps = ValueOr(rows.bandwidth_gbps[row], 0),
                                    .large_packet_ratio = ValueOr(rows.large_packet_ratio[row], 0),
                                    .packets = {}});
  }

  void AddPacket(size_t row) {
    const store::CommPacketTable& rows = store_.comm_packets;
    const size_t bandwidth = rows.bandwidth_row[row];
    if (bandwidth >= transport_of_.size() || transport_of_[bandwidth].first == nullptr) return;
    const auto [operation, index] = transport_of_[bandwidth];
    operation->transports[index].packets.push_back(
        {rows.package_size_mb[row], ValueOr(rows.count[row], 0), ValueOr(rows.total_ms[row], 0)});
  }

  void AddLink(size_t row) {
    const store::CommLinkTable& links = store_.comm_links;
    if (links.src_rank[row] == store::kNone || links.dst_rank[row] == store::kNone) return;
    CommunicationClass& of = Class(links.step[row], links.kind[row]);
    const std::string_view name = store_.Text(links.op_name[row]);
    const std::string_view group = store_.Text(links.group_name[row]);
    MatrixEntry& entry = FindOrAdd(
        of.matrix, [&](const MatrixEntry& e) { return e.name == name && e.group == group; },
        [&] { return MatrixEntry{std::string(name), std::string(group), {}}; });
    entry.links.push_back(
        {links.src_rank[row], links.dst_rank[row], std::string(store_.Text(links.transport[row])),
         ValueOr(links.transit_size_mb[row], 0), ValueOr(links.transit_ms[row], 0),
         ValueOr(links.bandwidth_gbps[row], 0), std::string(store_.Text(links.picked_op[row]))});
  }

  static void Finish(CommunicationClass& of) {
    for (OperationFacts& operation : of.operations) FillTransports(operation);
    of.total = SumOperations(of.operations);
  }

  const TraceStore& store_;
  std::vector<CommunicationStep> steps_;
  std::map<Key, Place> places_;
  // Row of comm_bandwidths -> its operation and place there. Operations do not move any more then.
  std::vector<std::pair<OperationFacts*, size_t>> transport_of_;
};

}  // namespace

double CommunicationRatio(double part, double transit) {
  constexpr double kDecimals = 1e4;
  if (part + transit == 0) return 0;
  return std::round(part / (part + transit) * kDecimals) / kDecimals;
}

OperationFacts SumOperations(const std::vector<OperationFacts>& operations) {
  OperationFacts total;
  total.name = kTotalOpInfo;
  for (const std::string_view name : kTransports)
    total.transports.push_back({.transport = std::string(name)});
  for (const OperationFacts& operation : operations) {
    total.elapse_ms += operation.elapse_ms;
    total.transit_ms += operation.transit_ms;
    total.wait_ms += operation.wait_ms;
    total.synchronization_ms += operation.synchronization_ms;
    total.idle_ms += operation.idle_ms;
    for (const TransportFacts& transport : operation.transports) {
      TransportFacts& sum = FindOrAdd(
          total.transports,
          [&](const TransportFacts& t) { return t.transport == transport.transport; },
          [&] { return TransportFacts{.transport = transport.transport}; });
      sum.transit_size_mb += transport.transit_size_mb;
      sum.transit_ms += transport.transit_ms;
      AddPackets(sum.packets, transport.packets);
    }
  }
  for (TransportFacts& transport : total.transports)
    transport.bandwidth_gbps = transport.large_packet_ratio = kNoValue;
  total.wait_ratio = CommunicationRatio(total.wait_ms, total.transit_ms);
  total.synchronization_ratio = CommunicationRatio(total.synchronization_ms, total.transit_ms);
  return total;
}

std::vector<CommunicationStep> CollectCommunication(const TraceStore& store) {
  if (store.comm_times.size() == 0) return DeriveCommunication(store);
  return StoredCommunication(store).Collect();
}

}  // namespace steplens::analysis
