#include "analysis/cpu_device/kernel_stacks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace steplens::analysis {
namespace {

using store::TraceStore;
using store::TrackId;

using StackPlace = std::pair<TrackId, int64_t>;  // a track and a time

// The stacks of host operators by where they begin; of several the innermost, which comes last.
std::map<StackPlace, StringId> OperatorStacks(const TraceStore& store) {
  std::map<StackPlace, StringId> stacks;
  const store::HostOpTable& ops = store.host_ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto slice = static_cast<size_t>(ops.slice[i]);
    if (ops.call_stack[i] == StringId::kEmpty || slice >= store.slices.size()) continue;
    stacks[{store.slices.track[slice], store.slices.begin_ns[slice]}] = ops.call_stack[i];
  }
  return stacks;
}

}  // namespace

std::vector<StringId> KernelStacks(const TraceStore& store) {
  const auto kind = store.strings.Find("async_npu");
  if (!kind) return {};
  const std::map<StackPlace, StringId> of_ops = OperatorStacks(store);
  if (of_ops.empty()) return {};
  std::map<StackPlace, StringId> of_work;
  for (size_t i = 0; i < store.flows.size(); ++i) {
    if (store.flows.kind[i] != *kind) continue;
    const auto op = of_ops.find({store.flows.from_track[i], store.flows.from_ns[i]});
    if (op != of_ops.end()) {
      of_work[{store.flows.to_track[i], store.flows.to_ns[i]}] = op->second;
    }
  }
  // Kernels name no track: their slices do.
  std::map<std::pair<int64_t, StringId>, StringId> by_start;
  for (size_t i = 0; i < store.slices.size(); ++i) {
    const auto work = of_work.find({store.slices.track[i], store.slices.begin_ns[i]});
    if (work == of_work.end()) continue;
    by_start[{store.slices.begin_ns[i], store.slices.name[i]}] = work->second;
  }
  std::vector<StringId> stacks(store.kernels.size(), StringId::kEmpty);
  for (size_t i = 0; i < stacks.size(); ++i) {
    const auto found = by_start.find({store.kernels.begin_ns[i], store.kernels.name[i]});
    if (found != by_start.end()) stacks[i] = found->second;
  }
  const bool has_any = std::any_of(stacks.begin(), stacks.end(),
                                   [](StringId stack) { return stack != StringId::kEmpty; });
  return has_any ? stacks : std::vector<StringId>();
}

}  // namespace steplens::analysis
