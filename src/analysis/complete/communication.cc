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

void AppendTotal(TraceStore& store, StringId step, StringId kind, const OperationFacts& total) {
  const StringId name = store.strings.Intern(kTotalOpInfo);
  store.comm_times.Append({.step = step,
                           .kind = kind,
                           .op_name = name,
                           .group_name = StringId::kEmpty,
                           .start_us = kNoValue,
                           .elapse_ms = total.elapse_ms,
                           .transit_ms = total.transit_ms,
                           .wait_ms = total.wait_ms,
                           .synchronization_ms = total.synchronization_ms,
                           .idle_ms = total.idle_ms,
                           .wait_ratio = total.wait_ratio,
                           .synchronization_ratio = total.synchronization_ratio});
  for (const TransportFacts& transport : total.transports) {
    if (transport.transit_size_mb == 0 && transport.transit_ms == 0) continue;  // as in a db
    const auto row = static_cast<uint32_t>(store.comm_bandwidths.size());
    store.comm_bandwidths.Append({.step = step,
                                  .kind = kind,
                                  .op_name = name,
                                  .group_name = StringId::kEmpty,
                                  .transport = store.strings.Intern(transport.transport),
                                  .transit_size_mb = transport.transit_size_mb,
                                  .transit_ms = transport.transit_ms,
                                  .bandwidth_gbps = kNoValue,
                                  .large_packet_ratio = kNoValue});
    for (const PacketFacts& packet : transport.packets) {
      store.comm_packets.Append({row, packet.size_mb, packet.count, packet.total_ms});
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
