#include "analysis/cpu_device/cpu_device.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/classify/device_work.h"
#include "analysis/cpu_device/device_tracks.h"
#include "analysis/cpu_device/host_collectives.h"
#include "analysis/cpu_device/kernel_operators.h"
#include "analysis/overlap/sweep.h"
#include "analysis/steps/step_parts.h"
#include "analysis/time_math.h"
#include "base/number.h"

namespace steplens::analysis {
namespace {

using store::kNoId;
using store::kNone;
using store::SliceId;
using store::TraceStore;
using store::TrackId;

constexpr int64_t kNoModel = 4294967295;

// A piece of work of the device to be. It begins and ends with its host slice.
struct Work {
  uint32_t host_slice = kNoId;
  uint32_t host_op = kNoId;     // row of host_ops
  uint32_t collective = kNoId;  // index; kNoId: a kernel
};

// "aten::mm" -> "mm", made once a name.
class TypeNames {
 public:
  explicit TypeNames(TraceStore& store) : store_(store), types_(store.strings.size()) {}
  StringId operator()(StringId name) {
    const auto i = static_cast<size_t>(name);
    if (i < types_.size() && types_[i] != StringId::kEmpty) return types_[i];
    const std::string_view text = store_.Text(name);
    const size_t space = text.rfind("::");
    const StringId type =
        space == text.npos ? name : store_.strings.Intern(std::string(text.substr(space + 2)));
    if (i < types_.size()) types_[i] = type;
    return type;
  }

 private:
  TraceStore& store_;
  std::vector<StringId> types_;
};

class DeviceBuilder {
 public:
  DeviceBuilder(TraceStore& store, std::vector<HostCollective> collectives, bool keeps_all)
      : store_(store),
        keeps_all_(keeps_all),
        collectives_(std::move(collectives)),
        tracks_(store, DeviceOf(store)),
        types_(store) {}

  void Add(const std::vector<Work>& works, OverlapSlices slices) {
    Reserve(works.size(), slices);
    for (const Work& work : works) {
      ++connection_;
      if (work.collective == kNoId) {
        AddKernel(work);
      } else {
        AddCollective(work, collectives_[work.collective]);
      }
    }
    FillOtherColumns();
  }

  // The four threads of Overlap Analysis, from the first start to the last end of all work and
  // steps, cut at the borders of steps.
  void AddOverlapAnalysis(OverlapSlices slices) {
    constexpr std::array<std::string_view, 4> kNames{"Computing", "Communication",
                                                     "Communication(Not Overlapped)", "Free"};
    const std::vector<StepRange> steps = ComputeStepRanges(store_);
    for (const DeviceWork& work : CollectDeviceWork(store_)) {
      Interval window{kLatestNs, -kLatestNs};
      for (const auto* list : {&work.compute, &work.communication}) {
        for (const Interval& in : *list) {
          window = {std::min(window.begin_ns, in.begin_ns), std::max(window.end_ns, in.end_ns)};
        }
      }
      std::array<TrackId, kNames.size()> tracks{};
      std::array<StringId, kNames.size()> names{};
      for (size_t i = 0; i < kNames.size(); ++i) {
        tracks[i] = tracks_.Overlap(static_cast<int64_t>(i), kNames[i]);
        names[i] = store_.strings.Intern(kNames[i]);
      }
      if (slices == OverlapSlices::kLeftOut) continue;
      const auto append = [&](PieceKind kind, Interval piece) {
        const auto i = static_cast<size_t>(kind);
        store_.slices.Append({tracks[i], piece.begin_ns, piece.end_ns - piece.begin_ns, names[i],
                              StringId::kEmpty, kNone, kNone, 0});
      };
      window = WithCuttingSteps(window, steps);
      ForEachPiece(work.compute, work.communication, window, [&](PieceKind kind, Interval piece) {
        ForEachStepPart(steps, piece, [&](Interval part) { append(kind, part); });
      });
    }
  }

 private:
  static int64_t DeviceOf(TraceStore& store) {
    if (store.info.device == kNone) store.info.device = std::max<int64_t>(0, store.info.rank);
    return store.info.device;
  }

  void Reserve(size_t works, OverlapSlices slices) {
    // The pieces of Overlap Analysis are about two a kernel.
    const size_t per_work = slices == OverlapSlices::kLeftOut ? 1 : 3;
    store_.slices.Reserve(store_.slices.size() + per_work * works);
    store_.flows.Reserve(store_.flows.size() + works);
    store_.kernels.Reserve(works);
  }

  // The thread a host slice ran on, looked up once a track.
  struct HostThread {
    int64_t tid = kNone;
    TrackId stream = store::kNoTrack;
  };
  const HostThread& ThreadOf(TrackId track) {
    const auto t = static_cast<size_t>(track);
    if (t >= threads_.size()) threads_.resize(t + 1);
    HostThread& thread = threads_[t];
    if (thread.tid == kNone) {
      thread.tid = ParseInt64(store_.Text(store_.tracks.tid[t])).value_or(0);
      thread.stream = tracks_.Stream(thread.tid);
    }
    return thread;
  }

  void AddKernel(const Work& work) {
    const TrackId host_track = store_.slices.track[work.host_slice];
    const HostThread& thread = ThreadOf(host_track);
    store::KernelTable::Row row;
    row.stream = thread.tid;
    row.task_id = connection_ & 0xFFFF;
    row.name = store_.slices.name[work.host_slice];
    row.type = types_(row.name);
    row.core = ai_core_;
    row.input_shapes = store_.host_ops.input_shapes[work.host_op];
    row.input_types = store_.host_ops.input_types[work.host_op];
    Append(row, work, thread.stream, ai_core_);
  }

  void AddCollective(const Work& work, const HostCollective& collective) {
    const TrackId track = tracks_.Group(collective.group);
    store::KernelTable::Row row;
    row.name = store_.strings.Intern(collective.name);
    row.type = store_.strings.Intern(collective.name.substr(0, collective.name.find("__") + 1));
    row.core = communication_;
    Append(row, work, track, StringId::kEmpty);
    store::CommOpTable::Row op;
    op.track = track;
    op.name = row.name;
    op.op_type = row.type;
    op.group_name = store_.strings.Intern(collective.group);
    op.begin_ns = store_.slices.begin_ns[work.host_slice];
    op.dur_ns = store_.slices.dur_ns[work.host_slice];
    op.data_type = store_.strings.Intern(collective.data_type);
    op.alg_type = gloo_;
    op.count = collective.count;
    op.size_bytes = collective.size_bytes;
    op.correlation = connection_;
    store_.comm_ops.Append(op);
    AddTransfers(op, collective);
  }

  // What this rank sends to, or receives from, each other rank, as long as the operation takes.
  // Ranks are places in the group, as HCCL counts them. The first link is on the plane whose times
  // stand for the operation, each other one on a plane of its own.
  void AddTransfers(const store::CommOpTable::Row& op, const HostCollective& collective) {
    int64_t plane = 0;
    for (const HostLink& link : LinksOf(collective, store_.info.rank)) {
      store::CommTaskTable::Row task;
      task.track = op.track;
      task.name = memcpy_;
      task.op_name = op.name;
      task.group_name = op.group_name;
      task.plane = ++plane;
      task.begin_ns = op.begin_ns;
      task.dur_ns = op.dur_ns;
      task.src_rank = link.src;
      task.dst_rank = link.dst;
      task.transport = sdma_;
      task.data_type = op.data_type;
      task.size_bytes = link.size_bytes;
      store_.comm_tasks.Append(task);
    }
  }

  // The kernel row, its slice and the arrow to it.
  void Append(store::KernelTable::Row& row, const Work& work, TrackId track, StringId category) {
    const TrackId host_track = store_.slices.track[work.host_slice];
    row.device = store_.info.device;
    row.model_id = kNoModel;
    row.begin_ns = store_.slices.begin_ns[work.host_slice];
    row.dur_ns = store_.slices.dur_ns[work.host_slice];
    row.wait_ns = last_end_ns_ == kNone ? 0 : std::max<int64_t>(0, row.begin_ns - last_end_ns_);
    row.correlation = connection_;
    last_end_ns_ = EndNs(row.begin_ns, row.dur_ns);
    AppendKernel(row);
    store_.slices.Append(
        {track, row.begin_ns, row.dur_ns, row.name, category, connection_, kNone, 0});
    store_.flows.Append({async_npu_, host_track, row.begin_ns, track, row.begin_ns});
  }

  void AppendKernel(const store::KernelTable::Row& row) {
    store::KernelTable& kernels = store_.kernels;
    if (keeps_all_) return kernels.Append(row);
    kernels.step.Append(row.step);
    kernels.device.Append(row.device);
    kernels.stream.Append(row.stream);
    kernels.task_id.Append(row.task_id);
    kernels.model_id.Append(row.model_id);
    kernels.type.Append(row.type);
    kernels.core.Append(row.core);
    kernels.input_shapes.Append(row.input_shapes);
    kernels.input_types.Append(row.input_types);
  }

  // What AppendKernel left out. The last slices are those of the kernels, one by one, and none
  // follows them any more.
  void FillOtherColumns() {
    if (keeps_all_) return;
    store::KernelTable& kernels = store_.kernels;
    const size_t rows = kernels.step.size();
    const auto share = [&](auto& column, const auto& of_slices) {
      column.Attach(of_slices.last(rows));
    };
    share(kernels.name, store_.slices.name);
    share(kernels.begin_ns, store_.slices.begin_ns);
    share(kernels.dur_ns, store_.slices.dur_ns);
    share(kernels.correlation, store_.slices.correlation);
    kernels.ForEachColumn([&](auto, auto, auto& column) {
      if (column.size() < rows) column.AppendUnknown(rows - column.size());
    });
  }

  TraceStore& store_;
  // Also what no writer of result files asks for: args, and waits, which the writer of
  // kernel_details.csv works out itself.
  bool keeps_all_;
  std::vector<HostCollective> collectives_;
  DeviceTracks tracks_;
  TypeNames types_;
  std::vector<HostThread> threads_;  // by host track
  int64_t connection_ = 0;
  int64_t last_end_ns_ = kNone;
  const StringId ai_core_ = store_.strings.Intern("AI_CORE");
  const StringId communication_ = store_.strings.Intern("COMMUNICATION");
  const StringId gloo_ = store_.strings.Intern("gloo");
  const StringId memcpy_ = store_.strings.Intern("Memcpy");
  const StringId sdma_ = store_.strings.Intern("SDMA");
  const StringId async_npu_ = store_.strings.Intern("async_npu");
};

}  // namespace

void AppendCpuDevice(TraceStore& store, OverlapSlices slices) {
  std::vector<HostCollective> collectives = TakeHostCollectives(store);
  std::vector<Work> works;
  for (const KernelOperator& op : KernelOperators(store))
    works.push_back({op.slice, op.host_op, kNoId});
  if (slices == OverlapSlices::kLeftOut) store.host_ops.scope = {};  // no result file shows it
  for (uint32_t i = 0; i < collectives.size(); ++i) {
    const uint32_t slice = collectives[i].slice;
    const int64_t begin_ns = store.slices.begin_ns[slice];
    if (!IsPlausible(begin_ns, EndNs(begin_ns, store.slices.dur_ns[slice]))) continue;
    works.push_back({slice, kNoId, i});
  }
  if (works.empty()) return;
  const auto before = [begin_ns = store.slices.begin_ns.span()](const Work& a, const Work& b) {
    return std::tuple(begin_ns[a.host_slice], a.host_slice) <
           std::tuple(begin_ns[b.host_slice], b.host_slice);
  };
  if (!std::is_sorted(works.begin(), works.end(), before))
    std::sort(works.begin(), works.end(), before);
  DeviceBuilder builder(store, std::move(collectives), slices != OverlapSlices::kLeftOut);
  builder.Add(works, slices);
  works = {};
  builder.AddOverlapAnalysis(slices);
}

}  // namespace steplens::analysis
