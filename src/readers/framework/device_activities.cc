#include "readers/framework/device_activities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/device_record.h"

namespace steplens::readers {
namespace {

using format::DeviceActivity;
using store::kNone;
using store::TrackId;

constexpr int64_t kNoModel = 4294967295;

std::string_view DataTypeName(uint32_t code) {
  constexpr std::array<std::string_view, 13> kNames{"INT8",  "INT16",  "INT32", "FP16",   "FP32",
                                                    "INT64", "UINT64", "UINT8", "UINT16", "UINT32",
                                                    "FP64",  "BFP16",  "INT128"};
  return code < kNames.size() ? kNames[code] : "N/A";
}

// The layer of an API call, and its rank among calls that share a correlation id.
struct Layer {
  std::string_view name;
  int priority;
};
Layer LayerOf(uint32_t kind) {
  switch (kind) {
    case format::kDeviceNodeApi:
      return {"Node", 0};
    case format::kDeviceRuntimeApi:
      return {"Runtime", 2};
    default:
      return {"AscendCL", 1};
  }
}

class ActivityReader {
 public:
  explicit ActivityReader(FrameworkContext& ctx) : ctx_(ctx) {
    ctx_.tracks.SetProcess(static_cast<int64_t>(ctx_.process_id), false);
  }

  void Add(const DeviceActivity& activity, std::string_view name, std::string_view second,
           std::string_view algorithm) {
    switch (activity.kind) {
      case format::kDeviceKernel:
        return AddKernel(activity, name, second);
      case format::kDeviceHccl:
      case format::kDeviceCommunication:
        return AddCommunication(activity, name, second, algorithm);
      case format::kDeviceMemcpy:
        return AddTask(activity, "MEMCPY_ASYNC");
      case format::kDeviceMemset:
        return AddTask(activity, "MEMSET_ASYNC");
      case format::kDeviceApi:
      case format::kDeviceAclApi:
      case format::kDeviceNodeApi:
      case format::kDeviceRuntimeApi:
        return AddCall(activity, name);
      default:
        return;
    }
  }

  void Finish() {
    const StringId kind = ctx_.out.strings.Intern("HostToDevice");
    for (const Target& target : targets_) {
      const auto call = calls_.find(target.correlation);
      if (call == calls_.end()) continue;
      ctx_.out.flows.Append(
          {kind, call->second.track, call->second.begin_ns, target.track, target.begin_ns});
    }
    SortKernels();
  }

 private:
  struct Call {
    TrackId track;
    int64_t begin_ns;
    int priority;
  };
  struct Target {
    int64_t correlation;
    TrackId track;
    int64_t begin_ns;
  };

  // A slice of the device; also the end of an arrow.
  int64_t AppendSlice(const DeviceActivity& activity, TrackId track, StringId name,
                      StringId category) {
    store::SliceTable::Row row;
    row.track = track;
    row.name = name;
    row.category = category;
    row.correlation = static_cast<int64_t>(activity.correlation_id);
    const auto slice =
        static_cast<size_t>(ctx_.AppendSlice(row, activity.start_ns, activity.end_ns));
    targets_.push_back({row.correlation, track, activity.start_ns});
    if (ctx_.out.info.device == kNone) ctx_.out.info.device = activity.place;
    return ctx_.out.slices.dur_ns[slice];
  }

  TrackId Stream(const DeviceActivity& activity) {
    return ctx_.tracks.Stream(activity.place, activity.lane);
  }

  void AddTask(const DeviceActivity& activity, std::string_view kind) {
    const StringId name = ctx_.out.strings.Intern(kind);
    AppendSlice(activity, Stream(activity), name, name);
  }

  void AddKernel(const DeviceActivity& activity, std::string_view name, std::string_view type) {
    store::KernelTable::Row row;
    row.name = ctx_.Text(name);
    row.core = ctx_.Text(type);
    row.stream = activity.lane;
    row.dur_ns = AppendSlice(activity, Stream(activity), row.name, row.core);
    AppendKernel(activity, row);
  }

  void AddCommunication(const DeviceActivity& activity, std::string_view name,
                        std::string_view group, std::string_view algorithm) {
    store::CommOpTable::Row op;
    op.group_name = ctx_.Text(group);
    op.name = ctx_.Text(name);
    op.op_type = ctx_.Text(name.substr(0, std::min(name.find("__"), name.size() - 1) + 1));
    op.track = GroupTrack(activity.place, op.group_name);
    op.begin_ns = activity.start_ns;
    op.dur_ns = AppendSlice(activity, op.track, op.name, StringId::kEmpty);
    op.alg_type = ctx_.Text(algorithm);
    op.correlation = static_cast<int64_t>(activity.correlation_id);
    if (activity.kind == format::kDeviceCommunication) {
      op.data_type = ctx_.out.strings.Intern(DataTypeName(activity.detail));
      op.count = static_cast<int64_t>(activity.amount);
    }
    ctx_.out.comm_ops.Append(op);
    store::KernelTable::Row row;
    row.name = op.name;
    row.type = op.op_type;
    row.core = ctx_.out.strings.Intern("COMMUNICATION");
    row.dur_ns = op.dur_ns;
    AppendKernel(activity, row);
  }

  void AppendKernel(const DeviceActivity& activity, store::KernelTable::Row& row) {
    row.device = activity.place;
    row.model_id = kNoModel;
    row.begin_ns = activity.start_ns;
    row.correlation = static_cast<int64_t>(activity.correlation_id);
    kernels_.push_back(row);
  }

  TrackId GroupTrack(uint32_t device, StringId group) {
    const auto [place, is_new] =
        groups_.try_emplace({device, group}, static_cast<int64_t>(groups_.size()));
    const std::string name = fmt::format("Group {} Communication", ctx_.out.Text(group));
    return ctx_.tracks.DeviceThread(kCommunication, device, place->second, name);
  }

  void AddCall(const DeviceActivity& activity, std::string_view name) {
    const Layer layer = LayerOf(activity.kind);
    store::SliceTable::Row row;
    row.track =
        ctx_.tracks.HostThread(kCann, FrameworkContext::GlobalTid(activity.place, activity.lane));
    row.name = ctx_.Text(fmt::format("{}@{}", layer.name, name));
    row.correlation = static_cast<int64_t>(activity.correlation_id);
    ctx_.AppendSlice(row, activity.start_ns, activity.end_ns);
    const Call call{row.track, activity.start_ns, layer.priority};
    const auto [place, is_new] = calls_.try_emplace(row.correlation, call);
    if (!is_new && call.priority < place->second.priority) place->second = call;
  }

  // By start, with the gap to the row before, as kernel_details.csv has them.
  void SortKernels() {
    std::stable_sort(kernels_.begin(), kernels_.end(),
                     [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    int64_t last_end_ns = kNone;
    for (store::KernelTable::Row& row : kernels_) {
      row.wait_ns = last_end_ns == kNone
                        ? 0
                        : std::max<int64_t>(0, SubtractSaturating(row.begin_ns, last_end_ns));
      last_end_ns = AddSaturating(row.begin_ns, row.dur_ns);
      ctx_.out.kernels.Append(row);
    }
  }

  FrameworkContext& ctx_;
  std::unordered_map<int64_t, Call> calls_;
  std::vector<Target> targets_;
  std::vector<store::KernelTable::Row> kernels_;
  std::map<std::pair<uint32_t, StringId>, int64_t> groups_;
};

}  // namespace

Status ReadDeviceActivities(RecordReader& reader, FrameworkContext& ctx) {
  ActivityReader activities(ctx);
  while (true) {
    SL_ASSIGN_OR_RETURN(const bool has_record, reader.NextFramed());
    if (!has_record) break;
    DeviceActivity activity;
    std::array<std::string_view, 4> texts;  // by tag
    const bool is_whole = Decode(reader.value(), &activity) &&
                          ForEachField(reader.value(), DeviceActivity::kFixedBytes,
                                       [&](uint16_t tag, std::string_view text) {
                                         if (tag < texts.size()) texts[tag] = text;
                                       });
    if (!is_whole) {
      reader.Reject("a device activity is too short, or its fields are damaged");
      continue;
    }
    activities.Add(activity, texts[format::kDeviceName], texts[format::kDeviceSecondText],
                   texts[format::kDeviceAlgorithm]);
  }
  activities.Finish();
  return {};
}

}  // namespace steplens::readers
