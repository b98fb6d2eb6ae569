#include "analysis/cluster/summary/small_packets.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace steplens::analysis::cluster {
namespace {

constexpr double kMostOfTime = 0.5;
constexpr double kSlowShare = 0.6;

double ExpectedGbps(const std::string& transport) { return transport == "RDMA" ? 12.5 : 18; }

}  // namespace

double LargePacketMb(const std::string& transport) { return transport == "RDMA" ? 1 : 16; }

double SmallPacketLoss(const std::string& transport, double size_mb, double time_ms,
                       double packets_ms, double small_ms) {
  if (packets_ms <= 0 || time_ms <= 0 || small_ms <= kMostOfTime * packets_ms) return 0;
  const double reached = size_mb / time_ms / ExpectedGbps(transport);
  return reached < kSlowShare ? 1 - reached : 0;
}

bool Explains(const SmallPackets& small, const SlowLink& link) {
  const bool is_affected =
      std::find(small.ranks.begin(), small.ranks.end(), link.src) != small.ranks.end();
  return is_affected && link.transport == small.transport && link.gbps >= kSlowShare * small.gbps;
}

std::vector<SmallPackets> FindSmallPackets(const std::vector<PacketTotal>& totals, size_t steps) {
  std::map<std::string, SmallPackets> by_transport;
  std::map<std::string, PacketTotal> sums;
  std::map<std::string, size_t> fast_with_small;
  const auto is_lost = [](const PacketTotal& total) {
    return SmallPacketLoss(total.transport, total.size_mb, total.time_ms, total.packets_ms,
                           total.small_ms) > 0;
  };
  for (const PacketTotal& total : totals) {
    const bool is_small = total.small_ms > kMostOfTime * total.packets_ms;
    if (is_small && total.time_ms > 0 && !is_lost(total)) ++fast_with_small[total.transport];
  }
  for (const PacketTotal& total : totals) {
    if (!is_lost(total)) continue;
    const double expected = ExpectedGbps(total.transport);
    SmallPackets& found = by_transport[total.transport];
    found.transport = total.transport;
    found.expected_gbps = expected;
    found.ranks.push_back(total.rank);
    const double lost_ms = (total.time_ms - total.size_mb / expected) /
                           static_cast<double>(std::max<size_t>(steps, 1));
    found.lost_ms = std::max(found.lost_ms, lost_ms);
    PacketTotal& sum = sums[total.transport];
    sum.size_mb += total.size_mb;
    sum.time_ms += total.time_ms;
    sum.packets_ms += total.packets_ms;
    sum.small_ms += total.small_ms;
  }
  std::vector<SmallPackets> out;
  for (auto& [transport, found] : by_transport) {
    if (fast_with_small[transport] > found.ranks.size()) continue;
    const PacketTotal& sum = sums[transport];
    found.small_share = sum.small_ms / sum.packets_ms;
    found.gbps = sum.size_mb / sum.time_ms;
    out.push_back(std::move(found));
  }
  std::stable_sort(out.begin(), out.end(), [](const SmallPackets& a, const SmallPackets& b) {
    return a.lost_ms > b.lost_ms;
  });
  return out;
}

}  // namespace steplens::analysis::cluster
