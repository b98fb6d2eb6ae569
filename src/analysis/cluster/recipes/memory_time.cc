#include "analysis/cluster/recipes/memory_time.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/classify/classify.h"
#include "analysis/classify/device_work.h"
#include "analysis/cluster/device_time.h"
#include "analysis/steps/steps.h"
#include "analysis/time_math.h"

namespace steplens::analysis::cluster {
namespace {

using store::TraceStore;

// The copy tasks of Ascend streams: by their task type (db) or by their name (text).
std::vector<Interval> CopyTasks(const TraceStore& rank) {
  std::vector<Interval> copies;
  const std::optional<StringId> memcpy_type = rank.strings.Find("MEMCPY_ASYNC");
  if (!memcpy_type) return copies;
  const std::vector<TrackKind> tracks = ClassifyTracks(rank);
  const store::SliceTable& slices = rank.slices;
  for (size_t i = 0; i < slices.size(); ++i) {
    const auto track = static_cast<size_t>(slices.track[i]);
    if (slices.category[i] != *memcpy_type && slices.name[i] != *memcpy_type) continue;
    if (track >= tracks.size() || tracks[track] != TrackKind::kDevice) continue;
    const int64_t end_ns = EndNs(slices.begin_ns[i], slices.dur_ns[i]);
    if (IsPlausible(slices.begin_ns[i], end_ns)) copies.push_back({slices.begin_ns[i], end_ns});
  }
  return copies;
}

// Time of the copies outside `busy`, which is disjoint and ascending.
int64_t TimeOutside(std::span<const Interval> copies, std::span<const Interval> busy) {
  Interval hull = copies.front();
  for (const Interval& copy : copies) hull.end_ns = std::max(hull.end_ns, copy.end_ns);
  const auto first = std::lower_bound(
      busy.begin(), busy.end(), hull.begin_ns,
      [](const Interval& one, int64_t begin_ns) { return one.end_ns <= begin_ns; });
  const auto last =
      std::lower_bound(first, busy.end(), hull.end_ns,
                       [](const Interval& one, int64_t end_ns) { return one.begin_ns < end_ns; });
  return ComputeOverlap(std::span(first, last), copies, hull).comm_only_ns;
}

// Which step a copy belongs to: of a GPU by the device's time, as the breakdown counts it. Copies
// come in the order of their start.
class StepsOfCopies {
 public:
  StepsOfCopies(const TraceStore& rank, const HostCalls& host)
      : host_(host), ranges_(IsGpu(rank) ? ComputeStepRanges(rank) : std::vector<StepRange>{}) {}

  std::optional<int64_t> At(int64_t ts_ns) {
    if (ranges_.empty()) return host_.StepAt(ts_ns);
    const auto range = finder_.Find(ts_ns);
    return range ? std::optional(ranges_[*range].step) : std::nullopt;
  }

 private:
  static bool IsGpu(const TraceStore& rank) {
    return DetectPlatform(rank, ClassifyTracks(rank)) == Platform::kGpu;
  }

  const HostCalls& host_;
  const std::vector<StepRange> ranges_;
  StepFinder finder_{ranges_};
};

enum class Work : uint8_t { kCompute, kCommunication, kMemory };
struct Piece {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  Work work = Work::kCompute;
};
using PiecesOfStep = std::map<int64_t, std::vector<Piece>>;

// One block is current; what starts inside it takes its place, and what is left of the block is
// forgotten except for its last part.
int64_t AloneAsReference(std::vector<Piece>& pieces) {
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.begin_ns, a.end_ns) < std::tie(b.begin_ns, b.end_ns);
  });
  int64_t alone_ns = 0;
  Piece block = pieces.front();
  for (size_t i = 1; i < pieces.size(); ++i) {
    const Piece& next = pieces[i];
    if (block.work == Work::kMemory)
      alone_ns = AddNs(
          alone_ns, std::max<int64_t>(0, std::min(next.begin_ns, block.end_ns) - block.begin_ns));
    if (next.begin_ns >= block.end_ns) {
      block = next;
    } else if (next.end_ns > block.end_ns) {
      block = {block.end_ns, next.end_ns, next.work};
    } else {
      block.begin_ns = next.end_ns;
    }
  }
  if (block.work == Work::kMemory)
    alone_ns = AddNs(alone_ns, SubtractSaturating(block.end_ns, block.begin_ns));
  return alone_ns;
}

}  // namespace

std::map<int64_t, MemoryTime> MemoryTimes(const TraceStore& rank, const HostCalls& host) {
  std::vector<Interval> copies = CopyTasks(rank);
  std::vector<Interval> busy;
  for (const DeviceWork& work : CollectDeviceWork(rank)) {
    copies.insert(copies.end(), work.memory.begin(), work.memory.end());
    busy.insert(busy.end(), work.compute.begin(), work.compute.end());
    busy.insert(busy.end(), work.communication.begin(), work.communication.end());
  }
  const std::vector<Interval> busy_union = UnionOf(std::move(busy));
  SortIntervals(copies);
  StepsOfCopies steps(rank, host);
  std::map<int64_t, std::vector<Interval>> by_step;
  for (const Interval& copy : copies) {
    if (const auto step = steps.At(copy.begin_ns)) by_step[*step].push_back(copy);
  }
  std::map<int64_t, MemoryTime> times;
  for (const auto& [step, of_step] : by_step) {
    MemoryTime& time = times[step];
    for (const Interval& copy : of_step)
      time.total_ns = AddNs(time.total_ns, SubtractSaturating(copy.end_ns, copy.begin_ns));
    time.alone_ns = TimeOutside(of_step, busy_union);
  }
  return times;
}

std::map<int64_t, MemoryTime> MemoryTimesAsReference(const TraceStore& rank, const HostCalls& host,
                                                     const StepWindow& window) {
  PiecesOfStep pieces;
  const auto add = [&](int64_t begin_ns, int64_t dur_ns, int64_t decisive_ns, Work work) {
    if (decisive_ns == store::kNone || !window.Contains(decisive_ns) || dur_ns <= 0) return;
    if (!IsPlausible(begin_ns, EndNs(begin_ns, dur_ns))) return;
    if (const auto step = host.StepAt(decisive_ns))
      pieces[*step].push_back({begin_ns, EndNs(begin_ns, dur_ns), work});
  };
  const store::KernelTable& kernels = rank.kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (IsCommunicationCore(rank.Text(kernels.core[i]))) continue;
    add(kernels.begin_ns[i], kernels.dur_ns[i], host.StartOf(kernels.correlation[i]),
        Work::kCompute);
  }
  const store::CommOpTable& ops = rank.comm_ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    add(ops.begin_ns[i], ops.dur_ns[i], host.StartOf(ops.correlation[i]), Work::kCommunication);
  }
  for (const Interval& copy : CopyTasks(rank)) {
    add(copy.begin_ns, copy.end_ns - copy.begin_ns, copy.begin_ns, Work::kMemory);
  }
  std::map<int64_t, MemoryTime> times;
  for (auto& [step, of_step] : pieces) {
    MemoryTime& time = times[step];
    for (const Piece& piece : of_step) {
      if (piece.work == Work::kMemory)
        time.total_ns = AddNs(time.total_ns, SubtractSaturating(piece.end_ns, piece.begin_ns));
    }
    time.alone_ns = AloneAsReference(of_step);
  }
  return times;
}

}  // namespace steplens::analysis::cluster
