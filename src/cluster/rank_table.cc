#include "cluster/rank_table.h"

#include <fmt/format.h>

#include "base/json.h"

namespace steplens::cluster {

Result<std::map<int64_t, std::string>> ReadRankTable(const std::string& path) {
  const Result<JsonDocument> document = JsonDocument::ReadFile(path);
  if (!document.ok()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--rank_table: {}", document.error().message)};
  }
  std::map<int64_t, std::string> hosts;
  document->root()["server_list"].ForEachElement([&](JsonValue server) {
    const std::string host(server["server_id"].AsString().value_or(""));
    server["device"].ForEachElement([&](JsonValue device) {
      const auto rank = device["rank_id"].AsInt();
      if (rank && !host.empty()) hosts[*rank] = host;
    });
  });
  if (hosts.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--rank_table: {}: no rank found; 'server_list' with 'server_id' and "
                             "'device' lists with 'rank_id' were expected",
                             path)};
  }
  return hosts;
}

}  // namespace steplens::cluster
