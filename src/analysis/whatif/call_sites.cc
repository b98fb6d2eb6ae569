#include "analysis/whatif/call_sites.h"

#include <algorithm>

namespace steplens::analysis {

using store::kNoSlice;
using store::SliceId;

store::SliceId CallSites::LauncherOf(SliceId device) {
  const store::TraceStore& store = rank_.store();
  if (launches_ == nullptr) {
    launches_ = std::make_unique<std::unordered_map<SliceId, Launch>>();
    ForEachOperatorLaunch(store, rank_.tracks(), [&](const Launch& launch) {
      launches_->try_emplace(launch.device, launch);
    });
  }
  const auto found = launches_->find(device);
  if (found == launches_->end()) return kNoSlice;
  const Launch& launch = found->second;
  if (launch.call != kNoSlice) return launch.call;
  return rank_.nesting().InnermostAt(store, rank_.track_index(), launch.host_track, launch.host_ns);
}

// The operator around a slice, and the Python function around that.
CallSite CallSites::OfHost(SliceId slice) const {
  const store::TraceStore& store = rank_.store();
  CallSite out;
  for (SliceId at = slice; at != kNoSlice; at = rank_.nesting().parent[static_cast<size_t>(at)]) {
    const auto s = static_cast<size_t>(at);
    const SliceKind kind = rank_.slice_kinds()[store.slices.category[s]];
    const std::string_view name = store.Text(store.slices.name[s]);
    if (kind == SliceKind::kHostOp && out.op.empty() && !name.starts_with("ProfilerStep#")) {
      out.op = name;
      const auto& ops = store.host_ops.slice;
      const auto row = std::lower_bound(ops.begin(), ops.end(), at);
      if (row != ops.end() && *row == at) {
        const std::string_view stack =
            store.Text(store.host_ops.call_stack[static_cast<size_t>(row - ops.begin())]);
        out.code = stack.substr(0, stack.find(';'));
      }
    }
    if (kind == SliceKind::kPython && out.code.empty() && !name.starts_with("<built-in")) {
      out.code = name;
      break;
    }
  }
  return out;
}

CallSite CallSites::Of(const GraphNode& node) {
  if (node.slice == kNoSlice) return {};
  const bool is_host = node.kind == NodeKind::kHost || node.kind == NodeKind::kLaunch ||
                       node.kind == NodeKind::kHostWait;
  return OfHost(is_host ? node.slice : LauncherOf(node.slice));
}

}  // namespace steplens::analysis
