#include "analysis/compare/overall.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "analysis/classify/cpu_words.h"
#include "analysis/compare/group_times.h"
#include "analysis/compare/kernel_classes.h"
#include "analysis/overlap/cover.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis::compare {
namespace {

using store::kNone;
using store::TrackId;

constexpr double kBytesPerGb = 1024.0 * 1024.0 * 1024.0;

// First start and last end of what was added.
class Hull {
 public:
  void Add(int64_t begin_ns, int64_t end_ns) {
    begin_ns_ = std::min(begin_ns_, begin_ns);
    end_ns_ = std::max(end_ns_, end_ns);
  }
  int64_t length_ns() const {
    return begin_ns_ > end_ns_ ? 0 : SubtractSaturating(end_ns_, begin_ns_);
  }
  Interval interval() const { return {begin_ns_, end_ns_}; }

 private:
  int64_t begin_ns_ = std::numeric_limits<int64_t>::max();
  int64_t end_ns_ = std::numeric_limits<int64_t>::min();
};

std::string_view CategoryOf(const Side& side, size_t slice) {
  return side.store.Text(side.store.slices.category[slice]);
}

// visit(slice, begin_ns, end_ns) for each slice on tracks of a kind.
template <typename Visit>
void ForEachSliceOn(const Side& side, TrackKind wanted, Visit&& visit) {
  const store::SliceTable& slices = side.store.slices;
  const std::vector<TrackKind>& tracks = side.view.tracks();
  for (size_t i = 0; i < slices.size(); ++i) {
    const auto track = static_cast<size_t>(slices.track[i]);
    if (track >= tracks.size() || tracks[track] != wanted) continue;
    if (!side.IsDeviceTime(slices.begin_ns[i])) continue;
    visit(i, slices.begin_ns[i], EndNs(slices.begin_ns[i], slices.dur_ns[i]));
  }
}

// Totals of the delivered Overlap Analysis; returns where only communication ran.
std::vector<Interval> MeasureDelivered(const Side& side, Overall& overall) {
  std::vector<Interval> uncovered;
  Hull hull;
  ForEachSliceOn(side, TrackKind::kOverlap, [&](size_t i, int64_t begin_ns, int64_t end_ns) {
    const std::string_view name = side.store.Text(side.store.slices.name[i]);
    if (name == "Computing")
      overall.computing_ns = AddNs(overall.computing_ns, SubtractSaturating(end_ns, begin_ns));
    if (name == "Communication(Not Overlapped)") {
      overall.uncovered_ns = AddNs(overall.uncovered_ns, SubtractSaturating(end_ns, begin_ns));
      uncovered.push_back({begin_ns, end_ns});
    }
    hull.Add(begin_ns, end_ns);
  });
  overall.e2e_ns = hull.length_ns();
  SortIntervals(uncovered);
  ForEachSliceOn(side, TrackKind::kDevice, [&](size_t i, int64_t begin_ns, int64_t end_ns) {
    if (LowerCase(side.store.Text(side.store.slices.name[i])) == "kernel_aivec") {
      overall.lccl.Add(SubtractSaturating(end_ns, begin_ns));
    }
  });
  return uncovered;
}

constexpr std::array<std::string_view, 7> kKernelTasks{
    "KERNEL_AICORE",  "KERNEL_AIVEC",     "FFTS_PLUS",        "KERNEL_MIX_AIC",
    "KERNEL_MIX_AIV", "PROFILING_ENABLE", "PROFILING_DISABLE"};

std::vector<Interval> ComputeIntervals(const Side& side) {
  std::vector<Interval> intervals;
  const store::KernelTable& kernels = side.store.kernels;
  for (const uint32_t row : ComputeKernels(side)) {
    const store::MaybeInt end_ns = EndNs(kernels.begin_ns[row], kernels.dur_ns[row]);
    if (!end_ns.is_known() || !side.IsDeviceTime(kernels.begin_ns[row])) continue;
    intervals.push_back({kernels.begin_ns[row], end_ns});
  }
  return intervals;
}

std::vector<Interval> CommIntervals(const Side& side) {
  std::vector<Interval> intervals;
  const store::CommOpTable& ops = side.store.comm_ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!side.IsDeviceTime(ops.begin_ns[i])) continue;
    intervals.push_back({ops.begin_ns[i], EndNs(ops.begin_ns[i], ops.dur_ns[i])});
  }
  return intervals;
}

// Totals from kernels and collectives; returns where only communication ran.
std::vector<Interval> MeasureDb(const Side& side, Overall& overall) {
  std::vector<Interval> computing = ComputeIntervals(side);
  std::vector<Interval> communication = CommIntervals(side);
  Hull hull;
  for (const Interval& one : computing) hull.Add(one.begin_ns, one.end_ns);
  for (const Interval& one : communication) hull.Add(one.begin_ns, one.end_ns);
  ForEachSliceOn(side, TrackKind::kDevice, [&](size_t i, int64_t begin_ns, int64_t end_ns) {
    const std::string_view type = CategoryOf(side, i);
    const bool is_kernel =
        std::find(kKernelTasks.begin(), kKernelTasks.end(), type) != kKernelTasks.end();
    if (!is_kernel) hull.Add(begin_ns, end_ns);
  });
  const store::CommOpTable& ops = side.store.comm_ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (LowerCase(side.store.Text(ops.name[i])) == "kernel_aivec") {
      overall.lccl.Add(ops.dur_ns[i]);
    }
  }
  overall.e2e_ns = hull.length_ns();
  const Cover busy_computing(std::move(computing));
  const Cover busy_communication(std::move(communication));
  overall.computing_ns = busy_computing.total_ns();
  std::vector<Interval> uncovered = Subtract(busy_communication.runs(), busy_computing.runs());
  overall.uncovered_ns = UnionLength(uncovered);
  return uncovered;
}

// The same for any input, by what its devices did.
std::vector<Interval> MeasureDevices(const Side& side, Overall& overall) {
  std::vector<Interval> computing;
  std::vector<Interval> communication;
  Hull hull;
  const auto take = [&](const std::vector<Interval>& from, std::vector<Interval>* to) {
    for (const Interval& one : from) {
      if (!side.IsDeviceTime(one.begin_ns)) continue;
      hull.Add(one.begin_ns, one.end_ns);
      if (to != nullptr) to->push_back(one);
    }
  };
  for (const DeviceWork& device : side.view.device_work()) {
    take(device.compute, &computing);
    take(device.communication, &communication);
    take(device.memory, nullptr);
  }
  if (!side.is_gpu) {
    ForEachSliceOn(side, TrackKind::kDevice, [&](size_t i, int64_t begin_ns, int64_t end_ns) {
      // Marks of the profiler itself, under their names in db and text.
      const std::string_view type = CategoryOf(side, i);
      const bool is_mark = type.starts_with("PROFILING_") || type == "PLACE_HOLDER_SQE";
      if (!is_mark) hull.Add(begin_ns, end_ns);
      if (LowerCase(side.store.Text(side.store.slices.name[i])) == "kernel_aivec") {
        overall.lccl.Add(SubtractSaturating(end_ns, begin_ns));
      }
    });
  }
  overall.e2e_ns = hull.length_ns();
  const Cover busy_computing(std::move(computing));
  const Cover busy_communication(std::move(communication));
  overall.computing_ns = busy_computing.total_ns();
  std::vector<Interval> uncovered = Subtract(busy_communication.runs(), busy_computing.runs());
  overall.uncovered_ns = UnionLength(uncovered);
  return uncovered;
}

int64_t StreamOf(const Side& side, TrackId track) {
  const auto t = static_cast<size_t>(track);
  if (t >= side.store.tracks.size()) return kNone;
  std::string_view tid = side.store.Text(side.store.tracks.tid[t]);
  if (tid.starts_with("stream ")) tid.remove_prefix(7);
  return ParseInt64(tid).value_or(kNone);
}

// A time on the reference's grid of whole microseconds.
int64_t Tick(int64_t ns) { return ns / 1000; }

Status MeasureGpuAsReference(const Side& side, Overall& overall) {
  const store::SliceTable& slices = side.store.slices;
  struct Event {
    size_t slice;
    std::string name;
    int64_t stream;
    bool is_kernel;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < slices.size(); ++i) {
    const SliceKind kind = side.view.slice_kinds()[slices.category[i]];
    if (kind != SliceKind::kKernel && kind != SliceKind::kMemcpy) continue;
    events.push_back({i, LowerCase(side.store.Text(slices.name[i])),
                      StreamOf(side, slices.track[i]), kind == SliceKind::kKernel});
  }
  // The stream most kernels run on; of several the first.
  std::vector<std::pair<int64_t, int64_t>> counts;
  for (const Event& event : events) {
    if (event.name.starts_with("nccl") || event.stream == 0 || event.stream == kNone) continue;
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& one) { return one.first == event.stream; });
    if (found == counts.end()) {
      counts.emplace_back(event.stream, 1);
    } else {
      ++found->second;
    }
  }
  if (counts.empty()) {
    return Error{ErrorCode::kNotFound, "The profiling data does not contain kernel running data."};
  }
  const int64_t compute_stream =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->first;
  std::vector<Interval> computing;
  std::vector<Interval> communication;
  Hull hull;
  for (const Event& event : events) {
    const int64_t begin_ns = slices.begin_ns[event.slice];
    const int64_t end_ns = EndNs(begin_ns, slices.dur_ns[event.slice]);
    if (event.stream != 0 && event.stream != kNone) hull.Add(begin_ns, end_ns);
    if (event.stream == compute_stream && IsGpuCopyName(event.name)) {
      overall.sdma.Add(SubtractSaturating(end_ns, begin_ns));
      continue;
    }
    if (!event.is_kernel) continue;
    const Interval ticks{Tick(begin_ns), Tick(end_ns)};
    (event.name.starts_with("nccl") ? communication : computing).push_back(ticks);
  }
  const Cover busy_computing(std::move(computing));
  const Cover busy_communication(std::move(communication));
  overall.e2e_ns = hull.length_ns();
  overall.computing_ns = busy_computing.total_ns() * 1000;
  overall.uncovered_ns =
      UnionLength(Subtract(busy_communication.runs(), busy_computing.runs())) * 1000;
  return {};
}

// Copies on the streams that compute. Those that other streams wait for by events come first.
void MeasureCopies(const Side& side, const SheetOptions& options, Overall& overall) {
  std::set<TrackId> computing;
  std::set<TrackId> waiting;
  constexpr std::array<std::string_view, 6> kComputeTasks{"AI_CORE", "MIX_AIC",        "MIX_AIV",
                                                          "AI_CPU",  "AI_VECTOR_CORE", "FFTS_PLUS"};
  const store::SliceTable& slices = side.store.slices;
  if (side.is_db || !options.compat) {
    for (const uint32_t row : ComputeKernels(side)) {
      const store::SliceId slice = side.view.kernel_slices().slice_of()[row];
      if (slice != store::kNoSlice) computing.insert(slices.track[static_cast<size_t>(slice)]);
    }
  }
  const auto is_copy = [&](std::string_view type) {
    if (type == "SDMA_SQE" || type == "PCIE_DMA_SQE") return true;
    return !options.compat && (type == "MEMCPY_ASYNC" || type == "SDMA");
  };
  bool knows_stream = !options.compat || side.is_db;
  std::vector<size_t> copies;
  ForEachSliceOn(side, TrackKind::kDevice, [&](size_t i, int64_t, int64_t) {
    const std::string_view type = CategoryOf(side, i);
    const TrackId track = slices.track[i];
    if (!side.is_db &&
        std::find(kComputeTasks.begin(), kComputeTasks.end(), type) != kComputeTasks.end()) {
      computing.insert(track);
    }
    if (type == "EVENT_WAIT_SQE" || (!options.compat && type == "EVENT_WAIT")) {
      waiting.insert(track);
    }
    if (is_copy(type)) copies.push_back(i);
  });
  // The reference reads the stream from an arg that newer traces name otherwise.
  if (!knows_stream && !copies.empty() && options.args) {
    const std::string args = options.args(side.store, static_cast<store::SliceId>(copies.front()));
    knows_stream = args.find("\"Stream Id\"") != std::string::npos;
  }
  if (!knows_stream) return;
  for (const size_t i : copies) {
    const bool is_waiting = waiting.empty() || waiting.contains(slices.track[i]);
    if (computing.contains(slices.track[i]) && is_waiting) overall.sdma.Add(slices.dur_ns[i]);
  }
}

void MeasureMemory(const Side& side, const SheetOptions& options, Overall& overall) {
  if (!side.has_tables && !side.is_gpu) return;
  const store::MemorySampleTable& samples = side.store.memory_samples;
  int64_t framework = 0;
  int64_t process = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (samples.reserved_bytes[i] == kNone) continue;
    if (side.is_gpu && side.store.Text(samples.device[i]) == "CPU") continue;
    if (side.is_filtered && !side.IsHostTime(samples.ts_ns[i])) continue;
    const bool is_process = side.store.Text(samples.component[i]) == "APP";
    int64_t& peak = is_process && !options.compat ? process : framework;
    peak = std::max<int64_t>(peak, samples.reserved_bytes[i]);
  }
  overall.memory_gb = static_cast<double>(framework) / kBytesPerGb;
  overall.process_gb = static_cast<double>(process) / kBytesPerGb;
}

void MeasureBandwidth(const Side& side, const SheetOptions& options, Overall& overall) {
  if (options.compat && (side.is_db || !side.has_tables)) return;
  const store::CommBandwidthTable& rows = side.store.comm_bandwidths;
  std::string_view step;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (side.store.Text(rows.kind[i]) != "collective" ||
        side.store.Text(rows.op_name[i]) != "Total Op Info") {
      continue;
    }
    const std::string_view row_step = side.store.Text(rows.step[i]);
    if (!options.compat && side.step && row_step != fmt::format("step{}", side.step->step)) {
      continue;
    }
    if (row_step != step) {
      step = row_step;
      overall.rdma_gbps = overall.sdma_gbps = 0;
    }
    const bool has_time = rows.transit_ms[i] > 0;
    const double gbps = has_time ? rows.transit_size_mb[i] / rows.transit_ms[i] : 0;
    if (side.store.Text(rows.transport[i]) == "RDMA") overall.rdma_gbps = gbps;
    if (side.store.Text(rows.transport[i]) == "SDMA") overall.sdma_gbps = gbps;
  }
}

}  // namespace

int64_t Overall::fused_ns() const {
  int64_t sum_ns = 0;
  for (const FusedKernel& kernel : fused) sum_ns += kernel.time.ns;
  return sum_ns;
}

int64_t Overall::kernel_count() const {
  return attention_forward.total().count + attention_backward.total().count +
         conv_forward.total().count + conv_backward.total().count + matmul.total().count +
         vector().count + tensor_move.count + cube.count + paged_attention.count;
}

int64_t Overall::other_ns() const {
  int64_t known_ns = 0;
  for (const int64_t ns : {attention_forward.total().ns, attention_backward.total().ns,
                           conv_forward.total().ns, conv_backward.total().ns, matmul.total().ns,
                           vector().ns, tensor_move.ns, cube.ns, paged_attention.ns, fused_ns()}) {
    known_ns = AddNs(known_ns, ns);
  }
  return std::max<int64_t>(0, SubtractSaturating(computing_ns, known_ns));
}

Result<Overall> MeasureOverall(const Side& side, const SheetOptions& options) {
  Overall overall;
  overall.is_gpu = side.is_gpu;
  overall.is_cpu = !options.compat && IsCpuCapture(side.store);
  std::vector<Interval> uncovered;
  if (side.is_gpu && options.compat) {
    SL_RETURN_IF_ERROR(MeasureGpuAsReference(side, overall));
  } else if (!options.compat) {
    uncovered = MeasureDevices(side, overall);
  } else {
    uncovered = side.is_db ? MeasureDb(side, overall) : MeasureDelivered(side, overall);
  }
  ClassifyKernels(side, options, overall);
  if (!side.is_gpu) {
    MeasureGroups(side, options, uncovered, overall);
    MeasureCopies(side, options, overall);
  }
  MeasureMemory(side, options, overall);
  MeasureBandwidth(side, options, overall);
  return overall;
}

}  // namespace steplens::analysis::compare
