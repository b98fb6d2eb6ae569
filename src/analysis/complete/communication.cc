#include "analysis/complete/communication.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/communication/communication.h"
#include "analysis/communication/element_size.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

void FillRatios(TraceStore& store) {
  store::CommTimeTable& times = store.comm_times;
  const auto fill = [&](store::Column<double>& ratios, const store::Column<double>& part_ms,
                        size_t row) {
    if (!std::isnan(ratios[row]) || std::isnan(part_ms[row]) || std::isnan(times.transit_ms[row]))
      return;
    ratios.Set(row, CommunicationRatio(part_ms[row], times.transit_ms[row]));
  };
  for (size_t row = 0; row < times.size(); ++row) {
    fill(times.wait_ratio, times.wait_ms, row);
    fill(times.synchronization_ratio, times.synchronization_ms, row);
  }
}

// One operation, or the total of a class. `with_idle`: also kinds of links without traffic.
void AppendFacts(TraceStore& store, StringId step, StringId kind, const OperationFacts& facts,
                 bool with_idle) {
  const StringId name = store.strings.Intern(facts.name);
  const StringId group = store.strings.Intern(facts.group);
  store.comm_times.Append({.step = step,
                           .kind = kind,
                           .op_name = name,
                           .group_name = group,
                           .start_us = facts.start_us,
                           .elapse_ms = facts.elapse_ms,
                           .transit_ms = facts.transit_ms,
                           .wait_ms = facts.wait_ms,
                           .synchronization_ms = facts.synchronization_ms,
                           .idle_ms = facts.idle_ms,
                           .wait_ratio = facts.wait_ratio,
                           .synchronization_ratio = facts.synchronization_ratio});
  for (const TransportFacts& transport : facts.transports) {
    if (!with_idle && transport.transit_size_mb == 0 && transport.transit_ms == 0) continue;
    const auto row = static_cast<uint32_t>(store.comm_bandwidths.size());
    store.comm_bandwidths.Append({.step = step,
                                  .kind = kind,
                                  .op_name = name,
                                  .group_name = group,
                                  .transport = store.strings.Intern(transport.transport),
                                  .transit_size_mb = transport.transit_size_mb,
                                  .transit_ms = transport.transit_ms,
                                  .bandwidth_gbps = transport.bandwidth_gbps,
                                  .large_packet_ratio = transport.large_packet_ratio});
    for (const PacketFacts& packet : transport.packets) {
      store.comm_packets.Append({row, packet.size_mb, packet.count, packet.total_ms});
    }
  }
}

void AppendTotal(TraceStore& store, StringId step, StringId kind, const OperationFacts& total) {
  AppendFacts(store, step, kind, total, /*with_idle=*/false);  // as in a db
}

void KeepClass(TraceStore& store, StringId step, StringId kind, const CommunicationClass& of) {
  for (const OperationFacts& operation : of.operations)
    AppendFacts(store, step, kind, operation, /*with_idle=*/true);
  if (!of.operations.empty()) AppendFacts(store, step, kind, of.total, /*with_idle=*/true);
  for (const MatrixEntry& entry : of.matrix) {
    for (const LinkFacts& link : entry.links) {
      store.comm_links.Append({.step = step,
                               .kind = kind,
                               .op_name = store.strings.Intern(entry.name),
                               .group_name = store.strings.Intern(entry.group),
                               .src_rank = link.src_rank,
                               .dst_rank = link.dst_rank,
                               .transport = store.strings.Intern(link.transport),
                               .transit_size_mb = link.transit_size_mb,
                               .transit_ms = link.transit_ms,
                               .bandwidth_gbps = link.bandwidth_gbps,
                               .picked_op = store.strings.Intern(link.picked_op)});
    }
  }
}

// The group of each operation that communication.json names.
std::unordered_map<StringId, StringId> GroupsOfOperations(const TraceStore& store) {
  std::unordered_map<StringId, StringId> groups;
  for (size_t i = 0; i < store.comm_times.size(); ++i) {
    const StringId group = store.comm_times.group_name[i];
    if (group != StringId::kEmpty) groups.try_emplace(store.comm_times.op_name[i], group);
  }
  return groups;
}

// The name of each group that the timeline numbers. A number whose operations belong to several
// groups has none.
std::unordered_map<StringId, StringId> NamesOfNumbers(
    const TraceStore& store, const std::unordered_map<StringId, StringId>& group_of_op) {
  constexpr size_t kLongestNumber = 6;  // names are hashes of some twenty digits
  std::unordered_map<StringId, StringId> names;
  for (size_t i = 0; i < store.comm_ops.size(); ++i) {
    const StringId number = store.comm_ops.group_name[i];
    const std::string_view text = store.Text(number);
    if (text.empty() || text.size() > kLongestNumber ||
        text.find_first_not_of("0123456789") != std::string_view::npos) {
      continue;
    }
    const auto group = group_of_op.find(store.comm_ops.name[i]);
    if (group == group_of_op.end()) continue;
    const auto [place, is_new] = names.try_emplace(number, group->second);
    if (!is_new && place->second != group->second) place->second = number;
  }
  return names;
}

}  // namespace

void AddCommunicationTotals(TraceStore& store) {
  if (store.comm_times.size() == 0) return;
  FillRatios(store);
  std::set<std::pair<StringId, StringId>> with_total;  // step, kind
  std::vector<std::pair<StringId, StringId>> classes;  // in order of appearance
  for (size_t i = 0; i < store.comm_times.size(); ++i) {
    const std::pair key{store.comm_times.step[i], store.comm_times.kind[i]};
    if (store.Text(store.comm_times.op_name[i]) == kTotalOpInfo) with_total.insert(key);
    if (std::find(classes.begin(), classes.end(), key) == classes.end()) classes.push_back(key);
  }
  const std::vector<CommunicationStep> steps = CollectCommunication(store);
  for (const auto& [step, kind] : classes) {
    if (with_total.contains({step, kind})) continue;
    const auto facts = std::find_if(steps.begin(), steps.end(), [&](const CommunicationStep& s) {
      return s.step == store.Text(step);
    });
    if (facts == steps.end()) continue;
    const bool is_p2p = store.Text(kind) == "p2p";
    AppendTotal(store, step, kind, (is_p2p ? facts->p2p : facts->collective).total);
  }
}

void KeepCommunication(TraceStore& store) {
  const bool has_rows = store.comm_times.size() > 0 || store.comm_links.size() > 0;
  if (has_rows || store.comm_tasks.size() == 0 || store.info.level == "Level0") return;
  for (const CommunicationStep& step : DeriveCommunication(store)) {
    const StringId name = store.strings.Intern(step.step);
    KeepClass(store, name, store.strings.Intern("p2p"), step.p2p);
    KeepClass(store, name, store.strings.Intern("collective"), step.collective);
  }
}

void FillCommunicationSizes(TraceStore& store) {
  store::CommOpTable& ops = store.comm_ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops.size_bytes[i] == store::kNone)
      ops.size_bytes.Set(i, DataSize(ops.count[i], store.Text(ops.data_type[i])));
  }
}

void NameCommunicationGroups(TraceStore& store) {
  if (store.comm_times.size() == 0) return;
  const auto names = NamesOfNumbers(store, GroupsOfOperations(store));
  if (names.empty()) return;
  const auto rename = [&](store::Column<StringId>& groups) {
    for (size_t i = 0; i < groups.size(); ++i) {
      if (const auto name = names.find(groups[i]); name != names.end()) groups.Set(i, name->second);
    }
  };
  rename(store.comm_ops.group_name);
  rename(store.comm_tasks.group_name);
}

}  // namespace steplens::analysis
