#pragma once

#include <cstdint>
#include <vector>

#include "export/db/db_context.h"

namespace steplens::exporting {

// What a PYTORCH_API row is connected with: rows of CONNECTION_IDS.
struct HostLink {
  uint32_t slice;
  int64_t connection;
  auto operator<=>(const HostLink&) const = default;
};

// The links of host slices, by slice, each once:
//   queue items    their correlation id, above 5 * 2^28
//   fwdbwd flows   numbers that follow the largest correlation id, above 5 * 2^28; of a raw capture
//                  the operators that share a sequence number, also those of one thread
//   async_npu      the connection of the task or collective that was launched; where it has none,
//                  one is made and remembered in ctx.made_connections
std::vector<HostLink> CollectHostLinks(DbContext& ctx);

}  // namespace steplens::exporting
