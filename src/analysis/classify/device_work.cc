#include "analysis/classify/device_work.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analysis/classify/text_memo.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

bool IsReceive(std::string_view name) { return name.starts_with("hcom_receive"); }

// Collects intervals per device; a run of rows of the same device pays the look-up once.
class WorkByDevice {
 public:
  // `kernels`: how many compute intervals a device may get.
  explicit WorkByDevice(size_t kernels) : kernels_(kernels) {}

  DeviceWork& operator[](int64_t device) {
    if (last_ != nullptr && last_->device == device) return *last_;
    const auto [it, is_new] = works_.try_emplace(device);
    last_ = &it->second;
    if (is_new) {
      last_->device = device;
      last_->compute.reserve(kernels_);
    }
    return *last_;
  }

  // In order of device; implausible times are dropped; work of an unknown device joins the first
  // known one.
  std::vector<DeviceWork> Take() {
    std::vector<DeviceWork> out;
    for (auto& [device, work] : works_) out.push_back(std::move(work));
    if (out.size() > 1 && out.front().device == store::kNone) {
      Join(out[1], out[0]);
      out.erase(out.begin());
    }
    for (DeviceWork& work : out) {
      for (auto* list : {&work.compute, &work.communication, &work.memory, &work.receive,
                         &work.delivered_compute, &work.delivered_communication}) {
        std::erase_if(*list,
                      [](const Interval& in) { return !IsPlausible(in.begin_ns, in.end_ns); });
        SortIntervals(*list);
      }
      if (!IsPlausible(work.reference_range.begin_ns, work.reference_range.end_ns)) {
        work.reference_range = {};
      }
    }
    return out;
  }

 private:
  static void Join(DeviceWork& into, const DeviceWork& from) {
    const auto append = [](std::vector<Interval>& a, const std::vector<Interval>& b) {
      a.insert(a.end(), b.begin(), b.end());
    };
    append(into.compute, from.compute);
    append(into.communication, from.communication);
    append(into.memory, from.memory);
    append(into.receive, from.receive);
    append(into.delivered_compute, from.delivered_compute);
    append(into.delivered_communication, from.delivered_communication);
    if (into.reference_range == Interval{}) into.reference_range = from.reference_range;
  }

  size_t kernels_;
  std::map<int64_t, DeviceWork> works_;  // kNone, the smallest int64, comes first
  DeviceWork* last_ = nullptr;
};

Interval SliceInterval(const TraceStore& store, size_t i) {
  return {store.slices.begin_ns[i], EndNs(store.slices.begin_ns[i], store.slices.dur_ns[i])};
}

// Device of each track, looked up once per track and not per slice.
std::vector<int64_t> DevicesOfTracks(const TraceStore& store, Platform platform) {
  std::vector<int64_t> devices(store.tracks.size());
  for (size_t t = 0; t < devices.size(); ++t) {
    devices[t] = DeviceOfTrack(store, static_cast<store::TrackId>(t), platform);
  }
  return devices;
}

// visit(slice row, device) for each slice on a track of the kind.
template <typename Visitor>
void ForEachSliceOn(const TraceStore& store, const std::vector<TrackKind>& kinds, TrackKind kind,
                    Visitor&& visit) {
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) return;
  const std::vector<int64_t> devices = DevicesOfTracks(store, Platform::kAscend);
  const auto& track = store.slices.track;
  for (size_t i = 0, rows = track.size(); i < rows; ++i) {
    const auto t = static_cast<size_t>(track[i]);
    if (t < kinds.size() && kinds[t] == kind) visit(i, devices[t]);
  }
}

void AddCommunication(DeviceWork& work, Interval interval, bool is_receive) {
  work.communication.push_back(interval);
  if (is_receive) work.receive.push_back(interval);
}

// visit(row, interval, device) for each kernel with usable times; csv cells may have been unusable.
template <typename Visitor>
void ForEachKernel(const TraceStore& store, Visitor&& visit) {
  const auto begin_ns = store.kernels.begin_ns.span();
  const auto dur_ns = store.kernels.dur_ns.span();
  const auto& device = store.kernels.device;
  for (size_t i = 0; i < begin_ns.size(); ++i) {
    if (begin_ns[i] == store::kNone || dur_ns[i] == store::kNone) continue;
    visit(i, Interval{begin_ns[i], EndNs(begin_ns[i], dur_ns[i])}, device[i]);
  }
}

bool AddComputeKernels(const TraceStore& store, WorkByDevice& works) {
  bool found = false;
  TextMemo is_communication(store, IsCommunicationCore);
  TextMemo is_device_side(store, IsDeviceSideOfCollective);
  const auto& core = store.kernels.core;
  const auto name = store.kernels.name.span();
  ForEachKernel(store, [&](size_t i, Interval interval, int64_t device) {
    if (is_communication(core[i]) || is_device_side(name[i])) return;
    works[device].compute.push_back(interval);
    found = true;
  });
  return found;
}

bool AddCollectiveKernels(const TraceStore& store, WorkByDevice& works) {
  bool found = false;
  TextMemo is_communication(store, IsCommunicationCore);
  TextMemo is_receive(store, IsReceive);
  ForEachKernel(store, [&](size_t i, Interval interval, int64_t device) {
    if (!is_communication(store.kernels.core[i])) return;
    AddCommunication(works[device], interval, is_receive(store.kernels.name[i]));
    found = true;
  });
  return found;
}

bool AddCommOps(const TraceStore& store, WorkByDevice& works) {
  const std::vector<int64_t> devices = DevicesOfTracks(store, Platform::kAscend);
  TextMemo is_receive(store, IsReceive);
  for (size_t i = 0; i < store.comm_ops.size(); ++i) {
    const auto t = static_cast<size_t>(store.comm_ops.track[i]);
    const int64_t begin_ns = store.comm_ops.begin_ns[i];
    AddCommunication(works[t < devices.size() ? devices[t] : store::kNone],
                     {begin_ns, EndNs(begin_ns, store.comm_ops.dur_ns[i])},
                     is_receive(store.comm_ops.name[i]));
  }
  return store.comm_ops.size() > 0;
}

bool AddGroupSlices(const TraceStore& store, const std::vector<TrackKind>& kinds,
                    WorkByDevice& works) {
  bool found = false;
  TextMemo is_receive(store, IsReceive);
  ForEachSliceOn(store, kinds, TrackKind::kCommGroup, [&](size_t i, int64_t device) {
    AddCommunication(works[device], SliceInterval(store, i), is_receive(store.slices.name[i]));
    found = true;
  });
  return found;
}

// The delivered Overlap Analysis. Its slices count as the work where nothing better is known.
bool AddOverlapAnalysis(const TraceStore& store, const std::vector<TrackKind>& kinds,
                        bool want_compute, bool want_communication, WorkByDevice& works) {
  bool found = false;
  const auto computing = store.strings.Find("Computing");
  const auto communication = store.strings.Find("Communication");
  ForEachSliceOn(store, kinds, TrackKind::kOverlap, [&](size_t i, int64_t device) {
    found = true;
    DeviceWork& work = works[device];
    const Interval in = SliceInterval(store, i);
    Interval& range = work.reference_range;
    if (range == Interval{}) range = in;
    range = {std::min(range.begin_ns, in.begin_ns), std::max(range.end_ns, in.end_ns)};
    const StringId name = store.slices.name[i];
    if (name == computing) work.delivered_compute.push_back(in);
    if (name == communication) work.delivered_communication.push_back(in);
    if (want_compute && name == computing) work.compute.push_back(in);
    if (want_communication && name == communication) work.communication.push_back(in);
  });
  return found;
}

void AddAscend(const TraceStore& store, const std::vector<TrackKind>& kinds, WorkByDevice& works) {
  const bool has_compute = AddComputeKernels(store, works);
  const bool has_communication = AddCommOps(store, works) || AddGroupSlices(store, kinds, works) ||
                                 AddCollectiveKernels(store, works);
  const bool has_overlap =
      AddOverlapAnalysis(store, kinds, !has_compute, !has_communication, works);
  if (has_compute || has_overlap) return;
  TextMemo is_task_kind(store, IsTaskKindName);
  TextMemo is_mark(store, [](std::string_view task_type) { return task_type == "MSTX_EX"; });
  ForEachSliceOn(store, kinds, TrackKind::kDevice, [&](size_t i, int64_t device) {
    if (is_task_kind(store.slices.name[i]) || is_mark(store.slices.category[i])) return;
    works[device].compute.push_back(SliceInterval(store, i));
  });
}

void AddGpu(const TraceStore& store, const std::vector<TrackKind>& tracks, WorkByDevice& works) {
  TextMemo is_communication(store, IsCommunicationKernel);
  TextMemo is_copy(store, store::IsCopyKernel);
  const auto name = store.kernels.name.span();
  ForEachKernel(store, [&](size_t i, Interval interval, int64_t device) {
    DeviceWork& work = works[device];
    auto& list = is_communication(name[i]) ? work.communication
                 : is_copy(name[i])        ? work.memory
                                           : work.compute;
    list.push_back(interval);
  });
  const SliceKinds kinds(store);
  const std::vector<int64_t> devices = DevicesOfTracks(store, Platform::kGpu);
  const auto& category = store.slices.category;
  for (size_t i = 0, rows = category.size(); i < rows; ++i) {
    const SliceKind kind = kinds[category[i]];
    const bool is_memory = kind == SliceKind::kMemcpy || kind == SliceKind::kMemset;
    if (!is_memory && kind != SliceKind::kCollective) continue;
    const auto t = static_cast<size_t>(store.slices.track[i]);
    // The host records collectives, too.
    if (!is_memory && (t >= tracks.size() || tracks[t] != TrackKind::kDevice)) continue;
    DeviceWork& work = works[t < devices.size() ? devices[t] : store::kNone];
    (is_memory ? work.memory : work.communication).push_back(SliceInterval(store, i));
  }
}

void AddHost(const TraceStore& store, WorkByDevice& works) {
  const SliceKinds kinds(store);
  TextMemo is_step(store, [](std::string_view name) { return name.starts_with("ProfilerStep#"); });
  const auto& category = store.slices.category;
  for (size_t i = 0, rows = category.size(); i < rows; ++i) {
    if (kinds[category[i]] != SliceKind::kHostOp || is_step(store.slices.name[i])) continue;
    works[store::kNone].compute.push_back(SliceInterval(store, i));
  }
  for (size_t i = 0; i < store.comm_ops.size(); ++i) {
    const int64_t begin_ns = store.comm_ops.begin_ns[i];
    works[store::kNone].communication.push_back(
        {begin_ns, EndNs(begin_ns, store.comm_ops.dur_ns[i])});
  }
}

}  // namespace

bool IsDeviceSideOfCollective(std::string_view name) {
  return name.ends_with("AicpuKernel") || name.ends_with("AivKernel");
}

int64_t DeviceOfTrack(const TraceStore& store, store::TrackId track, Platform platform) {
  const auto t = static_cast<size_t>(track);
  if (t >= store.tracks.size()) return store::kNone;
  const auto parent = static_cast<size_t>(store.tracks.parent[t]);
  const size_t process = parent < store.tracks.size() ? parent : t;
  if (platform == Platform::kGpu) {
    return ParseInt64(store.Text(store.tracks.pid[process])).value_or(store::kNone);
  }
  const std::string_view label = store.Text(store.tracks.label[process]);
  if (!label.starts_with("NPU ")) return store::kNone;
  return ParseInt64(label.substr(4)).value_or(store::kNone);
}

std::vector<DeviceWork> CollectDeviceWork(const TraceStore& store) {
  const std::vector<TrackKind> kinds = ClassifyTracks(store);
  WorkByDevice works(store.kernels.size());
  switch (DetectPlatform(store, kinds)) {
    case Platform::kAscend:
      AddAscend(store, kinds, works);
      break;
    case Platform::kGpu:
      AddGpu(store, kinds, works);
      break;
    case Platform::kUnknownDevice:  // its time is not known, and the host's is not its
      break;
    case Platform::kHostOnly:
      // Ascend captures in which the CPU is the device have its kernels; in others the work of the
      // device is not known.
      if (store::HostStandsForDevice(store.info.source)) AddHost(store, works);
      break;
  }
  return works.Take();
}

}  // namespace steplens::analysis
