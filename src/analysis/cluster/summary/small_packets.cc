#include "analysis/cluster/summary/small_packets.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace steplens::analysis::cluster {
namespace {

constexpr double kMostOfTime = 0.5;
constexpr double kSlow = 0.6;

double ExpectedGbps(const std::string& transport) { return transport == "RDMA" ? 12.5 : 18; }

}  // namespace

double LargePacketMb(const std::string& transport) { return transport == "RDMA" ? 1 : 16; }

bool Explains(const SmallPackets& small, const SlowLink& link) {
  const bool is_affected =
      std::find(small.ranks.begin(), small.ranks.end(), link.src) != small.ranks.end();
  return is_affected && link.transport == small.transport && link.gbps >= kSlow * small.gbps;
}

std::vector<SmallPackets> FindSmallPackets(const std::vector<PacketTotal>& totals, size_t steps) {
  std::map<std::string, SmallPackets> by_transport;
  std::map<std::string, PacketTotal> sums;
  for (const PacketTotal& total : totals) {
    if (total.packets_ms <= 0 || total.time_ms <= 0) continue;
    const double expected = ExpectedGbps(total.transport);
    const bool is_small = total.small_ms > kMostOfTime * total.packets_ms;
    if (!is_small || total.size_mb / total.time_ms >= kSlow * expected) continue;
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
