#pragma once

#include <map>
#include <vector>

#include "analysis/cluster/communication/communication_part.h"
#include "analysis/cluster/communication/json_number.h"

namespace steplens::analysis::cluster {

// The times of an operation in milliseconds, or sums of them.
struct CommTimes {
  double elapse = 0;
  double transit = 0;
  double wait = 0;
  double synchronization = 0;
  double idle = 0;

  // A row of a part, or any other with these times.
  template <typename Row>
  void Add(const Row& row) {
    elapse += row.elapse_ms;
    transit += row.transit_ms;
    wait += row.wait_ms;
    synchronization += row.synchronization_ms;
    if constexpr (requires { row.idle_ms; }) idle += row.idle_ms;
  }
  double WaitRatio() const { return Ratio4(wait, wait + transit); }
  double SynchronizationRatio() const { return Ratio4(synchronization, synchronization + transit); }
};

// Traffic of one transport: operations count once, packets by size in the order of first sight.
struct CommTraffic {
  double size_mb = 0;
  double time_ms = 0;
  std::vector<CommPacket> packets;

  void Add(const CommBandwidthRow& row) {
    size_mb += row.size_mb;
    time_ms += row.time_ms;
    for (const CommPacket& packet : row.packets) {
      const auto [place, is_new] = place_of_.try_emplace(packet.size_mb, packets.size());
      if (is_new) packets.push_back({packet.size_mb, 0, 0});
      packets[place->second].count += packet.count;
      packets[place->second].total_ms += packet.total_ms;
    }
  }
  double gbps() const { return Ratio4(size_mb, time_ms); }

 private:
  std::map<double, size_t> place_of_;
};

}  // namespace steplens::analysis::cluster
