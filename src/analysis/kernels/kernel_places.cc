#include "analysis/kernels/kernel_places.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/facts/rank_view.h"
#include "analysis/launches/launches.h"
#include "analysis/modules/module_ops.h"
#include "analysis/nesting/nesting.h"
#include "analysis/operators/host_ops.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TraceStore;

void PlaceInModules(const RankView& rank, std::vector<KernelPlace>& out) {
  const TraceStore& store = rank.store();
  std::vector<ModuleRange> modules = FindModules(store, false);
  if (modules.empty()) return;
  const std::vector<ModuleRange> backward = FindBackwardModules(store, modules);
  modules.insert(modules.end(), backward.begin(), backward.end());
  const std::vector<LaunchingOp> ops = CollectLaunchingOps(store);
  for (const ModuleOp& op : GroupByModule(store, ops, modules)) {
    const std::string path = op.parent.empty() ? op.module : op.parent + "/" + op.module;
    for (const uint32_t call : op.ops) {
      for (const OpKernel& kernel : ops[call].kernels) {
        const uint32_t row = rank.kernel_slices().KernelOf(kernel.slice);
        if (row != store::kNoId) out[row].module = path;
      }
    }
  }
}

// The frame of an operator, looked up once.
class Frames {
 public:
  explicit Frames(const TraceStore& store) : store_(store), kinds_(store), finder_(store) {
    index_ = BuildTrackIndex(store, [&](size_t row) {
      return kinds_[store.slices.category[row]] == SliceKind::kPython;
    });
    nesting_ = ComputeNesting(store, index_);
    if (const auto kind = store.strings.Find("fwdbwd")) FollowBackward(*kind);
  }

  std::string_view At(store::TrackId track, int64_t ts_ns) {
    SliceId op = finder_.Find(track, ts_ns);
    if (op == kNoSlice) return OfPython(track, ts_ns);
    const auto [place, is_new] = frame_of_.try_emplace(op);
    if (is_new) place->second = OfOp(op, true);
    return place->second;
  }

 private:
  void FollowBackward(StringId kind) {
    const store::FlowTable& flows = store_.flows;
    for (size_t i = 0; i < flows.size(); ++i) {
      if (flows.kind[i] != kind) continue;
      const SliceId from = finder_.Find(flows.from_track[i], flows.from_ns[i]);
      const SliceId to = finder_.Find(flows.to_track[i], flows.to_ns[i]);
      if (from != kNoSlice && to != kNoSlice) forward_of_.try_emplace(to, from);
    }
  }

  // Of the operator or one around it; then of the forward operator.
  std::string_view OfOp(SliceId op, bool may_follow) const {
    for (SliceId at = op; at != kNoSlice; at = Parent(at)) {
      const uint32_t detail = FindHostOpDetail(store_, at);
      if (detail == store::kNoId) continue;
      const std::string_view frame =
          OwnFrame(Split(store_.Text(store_.host_ops.call_stack[detail])));
      if (!frame.empty()) return frame;
    }
    const auto row = static_cast<size_t>(op);
    const std::string_view frame = OfPython(store_.slices.track[row], store_.slices.begin_ns[row]);
    if (!frame.empty() || !may_follow) return frame;
    for (SliceId at = op; at != kNoSlice; at = Parent(at)) {
      const auto forward = forward_of_.find(at);
      if (forward != forward_of_.end()) return OfOp(forward->second, false);
    }
    return {};
  }

  std::string_view OfPython(store::TrackId track, int64_t ts_ns) const {
    std::vector<std::string_view> frames;
    SliceId at = nesting_.InnermostAt(store_, index_, track, ts_ns);
    for (; at != kNoSlice; at = nesting_.parent[static_cast<size_t>(at)]) {
      const std::string_view name = store_.Text(store_.slices.name[static_cast<size_t>(at)]);
      if (name.find(".py(") != std::string_view::npos) frames.push_back(name);
    }
    return OwnFrame(frames);
  }

  SliceId Parent(SliceId op) const { return finder_.nesting().parent[static_cast<size_t>(op)]; }

  static std::vector<std::string_view> Split(std::string_view stack) {
    std::vector<std::string_view> out;
    while (!stack.empty()) {
      const size_t end = std::min(stack.find(';'), stack.size());
      const std::string_view frame = Trim(stack.substr(0, end));
      if (!frame.empty()) out.push_back(frame);
      stack.remove_prefix(std::min(end + 1, stack.size()));
    }
    return out;
  }

  const TraceStore& store_;
  SliceKinds kinds_;
  HostOpFinder finder_;
  TrackIndex index_;  // of Python functions
  Nesting nesting_;
  std::unordered_map<SliceId, SliceId> forward_of_;
  std::unordered_map<SliceId, std::string_view> frame_of_;
};

}  // namespace

std::string_view OwnFrame(const std::vector<std::string_view>& frames) {
  const auto is_own = [](std::string_view frame) {
    return frame.find("-packages/") == std::string_view::npos && !frame.starts_with("torch/") &&
           !frame.starts_with("torch_npu/") && !frame.starts_with('<') &&
           frame.find("/lib/python") == std::string_view::npos;
  };
  const auto own = std::find_if(frames.begin(), frames.end(), is_own);
  if (own != frames.end()) return *own;
  return frames.empty() ? std::string_view() : frames.front();
}

std::vector<KernelPlace> FindKernelPlaces(const TraceStore& store) {
  std::vector<KernelPlace> out(store.kernels.size());
  if (out.empty()) return out;
  const RankView rank(store);
  PlaceInModules(rank, out);
  Frames frames(store);
  ForEachOperatorLaunch(store, rank.tracks(), [&](const Launch& launch) {
    const uint32_t row = rank.kernel_slices().KernelOf(launch.device);
    if (row == store::kNoId) return;
    const std::string_view frame = frames.At(launch.owner_track, launch.owner_ns);
    if (!frame.empty()) out[row].python = frame;
  });
  return out;
}

}  // namespace steplens::analysis
