#include "analysis/overlap/overlap_lanes.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analysis/classify/classify.h"
#include "analysis/classify/device_work.h"
#include "analysis/overlap/cover.h"
#include "analysis/overlap/sweep.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

std::vector<Interval>* LaneNamed(OverlapLanes& lanes, std::string_view name) {
  if (name == "Computing") return &lanes.computing;
  if (name == "Communication") return &lanes.communication;
  if (name == "Communication(Not Overlapped)") return &lanes.not_overlapped;
  if (name == "Free") return &lanes.free;
  return nullptr;
}

// By process: each device has an Overlap Analysis process of its own.
std::vector<OverlapLanes> Delivered(const TraceStore& store, const std::vector<TrackKind>& kinds) {
  std::map<size_t, OverlapLanes> by_process;
  const store::SliceTable& slices = store.slices;
  for (size_t i = 0; i < slices.size(); ++i) {
    const auto t = static_cast<size_t>(slices.track[i]);
    if (t >= kinds.size() || kinds[t] != TrackKind::kOverlap) continue;
    OverlapLanes& lanes = by_process[static_cast<size_t>(store.tracks.parent[t])];
    std::vector<Interval>* lane = LaneNamed(lanes, store.Text(slices.name[i]));
    const Interval in{slices.begin_ns[i], EndNs(slices.begin_ns[i], slices.dur_ns[i])};
    if (lane != nullptr && IsPlausible(in.begin_ns, in.end_ns)) lane->push_back(in);
  }
  std::vector<OverlapLanes> out;
  for (auto& [process, lanes] : by_process) {
    lanes.is_delivered = true;
    for (auto* lane :
         {&lanes.computing, &lanes.communication, &lanes.not_overlapped, &lanes.free}) {
      SortIntervals(*lane);
    }
    out.push_back(std::move(lanes));
  }
  return out;
}

Interval Join(Interval a, Interval b) {
  if (a == Interval{}) return b;
  if (b == Interval{}) return a;
  return {std::min(a.begin_ns, b.begin_ns), std::max(a.end_ns, b.end_ns)};
}

Interval HullOf(const std::vector<Interval>& sorted) {
  if (sorted.empty()) return {};
  Interval hull = sorted.front();
  for (const Interval& in : sorted) hull.end_ns = std::max(hull.end_ns, in.end_ns);
  return hull;
}

// From the first to the last task on any stream.
Interval TaskHull(const TraceStore& store, const std::vector<TrackKind>& kinds) {
  Interval hull;
  const store::SliceTable& slices = store.slices;
  for (size_t i = 0; i < slices.size(); ++i) {
    const auto t = static_cast<size_t>(slices.track[i]);
    if (t >= kinds.size() || kinds[t] != TrackKind::kDevice) continue;
    const Interval in{slices.begin_ns[i], EndNs(slices.begin_ns[i], slices.dur_ns[i])};
    if (IsPlausible(in.begin_ns, in.end_ns)) hull = Join(hull, in);
  }
  return hull;
}

OverlapLanes Derive(const DeviceWork& work, Interval tasks) {
  OverlapLanes lanes;
  lanes.device = work.device;
  Interval window = Join(HullOf(work.compute), HullOf(work.communication));
  window = Join(Join(window, HullOf(work.memory)), tasks);
  ForEachPiece(work.compute, work.communication, window, [&](PieceKind kind, Interval piece) {
    if (kind == PieceKind::kCompute) lanes.computing.push_back(piece);
    if (kind == PieceKind::kComm) lanes.communication.push_back(piece);
    if (kind == PieceKind::kCommOnly) lanes.not_overlapped.push_back(piece);
    if (kind == PieceKind::kFree) lanes.free.push_back(piece);
  });
  if (work.memory.empty()) return lanes;
  std::vector<Interval> busy = lanes.computing;
  busy.insert(busy.end(), lanes.not_overlapped.begin(), lanes.not_overlapped.end());
  SortIntervals(busy);
  lanes.memory = Subtract(work.memory, busy);
  lanes.free = Subtract(lanes.free, lanes.memory);
  return lanes;
}

}  // namespace

int64_t TotalLength(const std::vector<Interval>& intervals) {
  int64_t total_ns = 0;
  for (const Interval& in : intervals) total_ns = AddNs(total_ns, in.end_ns - in.begin_ns);
  return total_ns;
}

int64_t OverlapLanes::TotalNs() const {
  return AddNs(AddNs(TotalLength(computing), TotalLength(not_overlapped)),
               AddNs(TotalLength(memory), TotalLength(free)));
}

std::vector<OverlapLanes> ComputeOverlapLanes(const TraceStore& store) {
  const std::vector<TrackKind> kinds = ClassifyTracks(store);
  std::vector<OverlapLanes> out = Delivered(store, kinds);
  if (!out.empty()) return out;
  const std::vector<DeviceWork> works = CollectDeviceWork(store);
  // Streams do not say their device as surely as kernels do: with several devices each has the
  // range of its own work.
  const Interval tasks = works.size() == 1 ? TaskHull(store, kinds) : Interval{};
  for (const DeviceWork& work : works) out.push_back(Derive(work, tasks));
  return out;
}

}  // namespace steplens::analysis
