#pragma once

#include <cstdint>
#include <vector>

#include "analysis/classify/classify.h"
#include "analysis/classify/text_memo.h"
#include "analysis/launches/launches.h"
#include "analysis/operators/host_ops.h"
#include "store/trace_store.h"

namespace steplens::analysis {

// A kernel of the device, whichever table it comes from.
struct DeviceKernel {
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
  int64_t step = store::kNone;  // as the input says
  StringId name{};
  StringId shapes{};
  StringId type{};
  StringId core{};
  bool is_communication = false;
};

namespace device_kernels_internal {

// Returns whether collectives are among the kernels.
template <typename Visitor>
bool ForEachKernelRow(const store::TraceStore& store, Visitor&& visit) {
  const store::KernelTable& kernels = store.kernels;
  TextMemo is_communication(store, IsCommunicationCore);
  bool has_communication = false;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const bool is_collective = is_communication(kernels.core[i]);
    has_communication = has_communication || is_collective;
    if (kernels.begin_ns[i] == store::kNone || kernels.dur_ns[i] == store::kNone) continue;
    visit(DeviceKernel{kernels.begin_ns[i], kernels.dur_ns[i], kernels.step[i], kernels.name[i],
                       kernels.input_shapes[i], kernels.type[i], kernels.core[i], is_collective});
  }
  return has_communication;
}

template <typename Visitor>
void ForEachCommOp(const store::TraceStore& store, Visitor&& visit) {
  const store::CommOpTable& ops = store.comm_ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops.begin_ns[i] == store::kNone || ops.dur_ns[i] == store::kNone) continue;
    DeviceKernel kernel;
    kernel.begin_ns = ops.begin_ns[i];
    kernel.dur_ns = ops.dur_ns[i];
    kernel.name = ops.name[i];
    kernel.type = ops.op_type[i];
    kernel.is_communication = true;
    visit(kernel);
  }
}

// Operator tasks on the hardware streams, for a trace that comes without its kernel_details.
template <typename Visitor>
void ForEachHardwareTask(const store::TraceStore& store, const std::vector<TrackKind>& tracks,
                         Visitor&& visit) {
  const store::SliceTable& slices = store.slices;
  for (size_t i = 0; i < slices.size(); ++i) {
    const auto t = static_cast<size_t>(slices.track[i]);
    if (t >= tracks.size() || tracks[t] != TrackKind::kDevice) continue;
    if (IsTaskKindName(store.Text(slices.name[i]))) continue;
    DeviceKernel kernel;
    kernel.begin_ns = slices.begin_ns[i];
    kernel.dur_ns = slices.dur_ns[i];
    kernel.name = slices.name[i];
    visit(kernel);
  }
}

// Input shapes of the host operator that launched each device slice; empty where it is not known.
inline std::vector<StringId> LaunchShapes(const store::TraceStore& store,
                                          const std::vector<TrackKind>& tracks) {
  std::vector<StringId> shapes(store.slices.size(), StringId::kEmpty);
  const HostOpFinder finder(store);
  ForEachOperatorLaunch(store, tracks, [&](const Launch& launch) {
    const store::SliceId op = finder.Find(launch.owner_track, launch.owner_ns);
    if (op == store::kNoSlice) return;
    const uint32_t detail = FindHostOpDetail(store, op);
    if (detail == store::kNoId) return;
    shapes[static_cast<size_t>(launch.device)] = store.host_ops.input_shapes[detail];
  });
  return shapes;
}

template <typename Visitor>
void ForEachGpuWork(const store::TraceStore& store, const std::vector<TrackKind>& tracks,
                    bool with_shapes, Visitor&& visit) {
  const store::SliceTable& slices = store.slices;
  const SliceKinds kinds(store);
  TextMemo is_communication(store, IsCommunicationKernel);
  const std::vector<StringId> shapes =
      with_shapes ? LaunchShapes(store, tracks) : std::vector<StringId>{};
  for (size_t i = 0; i < slices.size(); ++i) {
    if (!IsGpuWork(kinds[slices.category[i]])) continue;
    DeviceKernel kernel;
    kernel.begin_ns = slices.begin_ns[i];
    kernel.dur_ns = slices.dur_ns[i];
    kernel.name = slices.name[i];
    kernel.type = kernel.core = slices.category[i];
    kernel.is_communication = is_communication(kernel.name);
    if (with_shapes) kernel.shapes = shapes[i];
    visit(kernel);
  }
}

}  // namespace device_kernels_internal

// Calls visit(DeviceKernel) for the work of a rank's device. Ascend: kernels, without them the
// tasks of the hardware streams; then the collectives that kernels do not list. GPU: kernels,
// copies and memsets, with the shapes of the launching operator if `with_shapes`.
template <typename Visitor>
void ForEachDeviceKernel(const store::TraceStore& store, const std::vector<TrackKind>& tracks,
                         Platform platform, bool with_shapes, Visitor&& visit) {
  using namespace device_kernels_internal;
  if (platform == Platform::kGpu) {
    ForEachGpuWork(store, tracks, with_shapes, visit);
    return;
  }
  if (store.kernels.size() == 0) ForEachHardwareTask(store, tracks, visit);
  if (!ForEachKernelRow(store, visit)) ForEachCommOp(store, visit);
}

}  // namespace steplens::analysis
