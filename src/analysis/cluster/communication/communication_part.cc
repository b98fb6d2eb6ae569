#include "analysis/cluster/communication/communication_part.h"

#include <cmath>

#include "base/number.h"

namespace steplens::analysis::cluster {
namespace {

using store::TraceStore;

bool IsP2p(const TraceStore& rank, StringId kind, StringId op) {
  const std::string_view text = rank.Text(kind);
  return text.empty() ? IsP2pName(rank.Text(op)) : text == "p2p";
}

}  // namespace

uint32_t TextNumbers::operator()(StringId id) {
  uint32_t& number = numbers_[static_cast<size_t>(id)];
  if (number == kUnseen) {
    number = static_cast<uint32_t>(texts_.size());
    texts_.emplace_back(rank_.Text(id));
  }
  return number;
}

uint32_t TextNumbers::Step(StringId id) {
  if (!rank_.Text(id).empty() || rank_.info.source == store::Source::kAscendPt) return (*this)(id);
  if (all_steps_ == kUnseen) {
    all_steps_ = static_cast<uint32_t>(texts_.size());
    texts_.emplace_back("step");
  }
  return all_steps_;
}

bool IsWantedStep(std::string_view text, const Options& options) {
  if (!options.step || options.compat || text.empty()) return true;
  if (text.starts_with("step")) text.remove_prefix(4);
  return ParseInt64(text) == options.step;
}

CommunicationPart ReadCommunication(const TraceStore& rank, const Options& options) {
  CommunicationPart part;
  TextNumbers number(rank, part.texts);
  number(StringId::kEmpty);  // 0 is the empty text
  if (!(options.compat && rank.comm_times.size() == 0)) part.used = UsedGroups(rank);
  const store::CommTimeTable& times = rank.comm_times;
  for (size_t i = 0; i < times.size(); ++i) {
    if (rank.Text(times.op_name[i]).starts_with("Total")) continue;
    if (!IsWantedStep(rank.Text(times.step[i]), options)) continue;
    part.times.push_back({number.Step(times.step[i]), number(times.op_name[i]),
                          number(times.group_name[i]), IsP2p(rank, times.kind[i], times.op_name[i]),
                          KnownOrZero(times.start_us[i]), KnownOrZero(times.elapse_ms[i]),
                          KnownOrZero(times.transit_ms[i]), KnownOrZero(times.wait_ms[i]),
                          KnownOrZero(times.synchronization_ms[i]), KnownOrZero(times.idle_ms[i]),
                          KnownOrZero(times.wait_ratio[i]),
                          KnownOrZero(times.synchronization_ratio[i])});
  }
  const store::CommBandwidthTable& bandwidths = rank.comm_bandwidths;
  std::vector<uint32_t> row_of(bandwidths.size(), UINT32_MAX);
  for (size_t i = 0; i < bandwidths.size(); ++i) {
    if (rank.Text(bandwidths.op_name[i]).starts_with("Total")) continue;
    if (!IsWantedStep(rank.Text(bandwidths.step[i]), options)) continue;
    row_of[i] = static_cast<uint32_t>(part.bandwidths.size());
    part.bandwidths.push_back({number.Step(bandwidths.step[i]),
                               number(bandwidths.op_name[i]),
                               number(bandwidths.group_name[i]),
                               number(bandwidths.transport[i]),
                               IsP2p(rank, bandwidths.kind[i], bandwidths.op_name[i]),
                               KnownOrZero(bandwidths.transit_size_mb[i]),
                               KnownOrZero(bandwidths.transit_ms[i]),
                               KnownOrZero(bandwidths.bandwidth_gbps[i]),
                               KnownOrZero(bandwidths.large_packet_ratio[i]),
                               {}});
  }
  for (size_t i = 0; i < rank.comm_packets.size(); ++i) {
    const size_t row = rank.comm_packets.bandwidth_row[i];
    if (row >= row_of.size() || row_of[row] == UINT32_MAX) continue;
    part.bandwidths[row_of[row]].packets.push_back(
        {KnownOrZero(rank.comm_packets.package_size_mb[i]), KnownOrZero(rank.comm_packets.count[i]),
         KnownOrZero(rank.comm_packets.total_ms[i])});
  }
  return part;
}

}  // namespace steplens::analysis::cluster
