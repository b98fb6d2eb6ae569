#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/status.h"

namespace steplens::cluster {

// Which host each rank runs on, from a rank table of HCCL:
//
//   {"server_list": [{"server_id": "10.0.0.1", "device": [{"device_id": "0", "rank_id": "0"}]}]}
//
// An error (kInvalidArgument) if the file is none or names no rank.
Result<std::map<int64_t, std::string>> ReadRankTable(const std::string& path);

}  // namespace steplens::cluster
