#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/cluster/summary/slow_links.h"

namespace steplens::analysis::cluster {

// What one rank sent over one transport.
struct PacketTotal {
  int64_t rank = 0;
  std::string transport;
  double size_mb = 0;
  double time_ms = 0;
  double packets_ms = 0;  // time of all packets
  double small_ms = 0;    // of those below the size from which the transport is fast
};

struct SmallPackets {
  std::string transport;
  std::vector<int64_t> ranks;  // those affected
  double small_share = 0;      // of the transfer time
  double gbps = 0;
  double expected_gbps = 0;
  double lost_ms = 0;  // per step, of the rank that loses most
};

// From this size on a packet uses its link well (10^6 bytes): 16 MB inside a host, 1 MB between
// hosts.
double LargePacketMb(const std::string& transport);

// The share of a transfer that is lost to small packets: most of its time (`packets_ms`) goes to
// them (`small_ms`) and it reaches less than 60 % of what the link gives. 0 if not.
double SmallPacketLoss(const std::string& transport, double size_mb, double time_ms,
                       double packets_ms, double small_ms);

// Transports on which ranks spend most of their transfer time in small packets and reach less than
// 60 % of what the link gives: 18 GB/s inside a host, 12.5 GB/s between hosts. Where others send
// small packets as well and are fast, the packets are not to blame.
std::vector<SmallPackets> FindSmallPackets(const std::vector<PacketTotal>& totals, size_t steps);

// Whether a link is slow because its sender's packets are small: it reaches about what those do.
bool Explains(const SmallPackets& small, const SlowLink& link);

}  // namespace steplens::analysis::cluster
