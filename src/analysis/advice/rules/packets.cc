#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/advice/rules/rules.h"
#include "analysis/cells.h"

namespace steplens::analysis {
namespace {

// Operations of a rank over one kind of link.
struct PacketCount {
  std::string_view transport;
  double least_mb = 0;
  int64_t all = 0;
  int64_t small = 0;
  double small_mb = 0;
  double small_ms = 0;
  double large_mb = 0;
  double large_ms = 0;

  double share() const { return Share(static_cast<double>(small), static_cast<double>(all)); }
  // What the small ones would save at the bandwidth of the large ones.
  double SavingMs() const {
    if (large_mb <= 0 || large_ms <= 0) return 0;
    return std::max(0.0, small_ms - small_mb * large_ms / large_mb);
  }
};

PacketCount CountPackets(const RankEvidence& rank, std::string_view transport, double least_mb) {
  PacketCount out{.transport = transport, .least_mb = least_mb};
  for (const CommTraffic& row : rank.communication().traffic) {
    if (row.rank != rank.rank() || row.transport != transport || !(row.size_mb > 0)) continue;
    ++out.all;
    const bool is_small = row.size_mb < least_mb;
    (is_small ? out.small_mb : out.large_mb) += row.size_mb;
    (is_small ? out.small_ms : out.large_ms) += row.time_ms;
    if (is_small) ++out.small;
  }
  return out;
}

}  // namespace

std::vector<Finding> FindSmallPackets(const RankEvidence& rank) {
  const RuleThresholds& limits = rank.thresholds();
  std::vector<Finding> findings;
  for (const PacketCount& count : {CountPackets(rank, "SDMA", limits.packet_sdma_mb),
                                   CountPackets(rank, "RDMA", limits.packet_rdma_mb)}) {
    if (count.share() <= limits.packet_small_share) continue;
    const std::string transport(count.transport);
    Finding finding = rank.Make(RuleId::kPacket, {"finding.packet", {{"transport", transport}}},
                                {"finding.packet.reason",
                                 {{"percent", fmt::format("{:.1f}", 100 * count.share())},
                                  {"transport", transport},
                                  {"mb", fmt::format("{:g}", count.least_mb)},
                                  {"time", fmt::format("{:.3f} ms", count.small_ms)}}},
                                {"finding.packet.advice"});
    const auto saving_ns = static_cast<int64_t>(count.SavingMs() * 1e6);
    if (saving_ns > 0) finding.saving = rank.AtMost(saving_ns, rank.times().exposed_ns);
    finding.effort = Effort::kModel;
    TableRows rows(
        fmt::format("{} {}", rank.DetailName(RuleId::kPacket), transport),
        {IntColumn(transport + " total count"), IntColumn("Small " + transport + " count"),
         NumberColumn("Small " + transport + " ratio", 4),
         NumberColumn("Small " + transport + " duration(ms)", 4)});
    rows.Add(count.all, count.small, count.share(), count.small_ms);
    finding.details = {rows.Take()};
    finding.evidence = {
        {{"evidence.small_operations",
          {{"small", std::to_string(count.small)}, {"count", std::to_string(count.all)}}},
         fmt::format("SELECT op_name, transit_size_mb, transit_ms FROM "
                     "comm_bandwidths WHERE rank = {} AND transport = '{}'",
                     rank.rank(), transport)}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace steplens::analysis
