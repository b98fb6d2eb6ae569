#include "analysis/compare/side_launches.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "analysis/launches/launches.h"
#include "analysis/operators/host_ops.h"
#include "base/json.h"

namespace steplens::analysis::compare {
namespace {

using store::kNoId;
using store::kNone;
using store::kNoSlice;
using store::SliceId;
using store::TraceStore;
using store::TrackId;

constexpr std::array<std::string_view, 4> kGpuFlowCategories{"async_gpu", "async_cpu_to_gpu",
                                                             "ac2g", "async"};

// Makes each device event once.
class EventMaker {
 public:
  EventMaker(Side& side, const SheetOptions& options) : side_(side), options_(options) {
    // The reference finds shapes by the start of a kernel alone.
    if (!options.compat || side.is_gpu) return;
    const store::KernelTable& kernels = side.store.kernels;
    for (uint32_t i = 0; i < kernels.size(); ++i) kernel_at_.emplace(kernels.begin_ns[i], i);
  }

  uint32_t OfSlice(SliceId slice) {
    const auto [place, is_new] = of_slice_.try_emplace(slice, 0);
    if (!is_new) return place->second;
    const auto row = static_cast<size_t>(slice);
    const store::SliceTable& slices = side_.store.slices;
    DeviceEvent event;
    event.name = side_.store.Text(slices.name[row]);
    event.begin_ns = slices.begin_ns[row];
    event.dur_ns = slices.dur_ns[row];
    const auto track = static_cast<size_t>(slices.track[row]);
    event.is_collective =
        track < side_.view.tracks().size() && side_.view.tracks()[track] == TrackKind::kCommGroup;
    if (!event.is_collective) {
      event.task_type = side_.store.Text(slices.category[row]);
      if (!side_.is_gpu) AddKernel(slice, event);
    }
    return place->second = Append(event);
  }

  uint32_t OfKernel(uint32_t row) {
    const store::KernelTable& kernels = side_.store.kernels;
    DeviceEvent event;
    event.name = side_.store.Text(kernels.name[row]);
    event.task_type = side_.store.Text(kernels.core[row]);
    if (event.task_type.empty()) event.task_type = "N/A";
    event.shapes = side_.store.Text(kernels.input_shapes[row]);
    event.knows_shapes = true;
    event.task_id = kernels.task_id[row];
    event.begin_ns = kernels.begin_ns[row];
    event.dur_ns = kernels.dur_ns[row].value_or(0);
    return Append(event);
  }

 private:
  uint32_t Append(const DeviceEvent& event) {
    side_.events.push_back(event);
    return static_cast<uint32_t>(side_.events.size() - 1);
  }

  void AddKernel(SliceId slice, DeviceEvent& event) {
    uint32_t row = side_.view.kernel_slices().KernelOf(slice);
    if (options_.compat) {
      const auto found = kernel_at_.find(event.begin_ns);
      if (found != kernel_at_.end()) row = found->second;
    }
    if (row != kNoId) {
      const store::KernelTable& kernels = side_.store.kernels;
      event.task_id = kernels.task_id[row];
      event.shapes = side_.store.Text(kernels.input_shapes[row]);
      event.knows_shapes = side_.has_tables && HasShapeColumn();
      // The core is what text and db both say; the task type is that of the trace or the driver,
      // and the trace rounds durations otherwise.
      if (!options_.compat) {
        const std::string_view core = side_.store.Text(kernels.core[row]);
        if (!core.empty()) event.task_type = core;
        if (kernels.dur_ns[row] != kNone) event.dur_ns = kernels.dur_ns[row];
      }
    }
    if (event.task_id == kNone) event.task_id = TaskIdInArgs(slice);
  }

  // A Level0 kernel_details.csv has no shapes at all.
  bool HasShapeColumn() {
    if (!options_.compat) return !side_.store.kernels.input_shapes.is_unknown();
    const auto& shapes = side_.store.kernels.input_shapes;
    if (has_shapes_ < 0) {
      has_shapes_ = std::any_of(shapes.begin(), shapes.end(),
                                [](StringId text) { return text != StringId::kEmpty; });
    }
    return has_shapes_ == 1;
  }

  int64_t TaskIdInArgs(SliceId slice) const {
    if (!options_.args || side_.is_db) return kNone;
    const std::string args = options_.args(side_.store, slice);
    constexpr std::string_view kKey = "\"Task Id\":";
    const size_t at = args.find(kKey);
    if (at == std::string::npos) return kNone;
    size_t digit = at + kKey.size();
    while (digit < args.size() && args[digit] == ' ') ++digit;
    int64_t id = 0;
    bool has_digits = false;
    for (; digit < args.size() && args[digit] >= '0' && args[digit] <= '9'; ++digit) {
      if (id > (int64_t{1} << 58)) return kNone;
      id = id * 10 + (args[digit] - '0');
      has_digits = true;
    }
    return has_digits ? id : kNone;
  }

  Side& side_;
  const SheetOptions& options_;
  std::unordered_map<SliceId, uint32_t> of_slice_;
  std::unordered_map<int64_t, uint32_t> kernel_at_;
  int has_shapes_ = -1;
};

bool IsPoint(const HostLaunch& launch, int64_t ns) { return launch.host_ns == ns; }

// The operators that start when something was launched.
void LinkByStart(Side& side) {
  std::stable_sort(side.launches.begin(), side.launches.end(),
                   [](const HostLaunch& a, const HostLaunch& b) { return a.host_ns < b.host_ns; });
  for (HostEvent& op : side.ops) {
    const auto found =
        std::lower_bound(side.launches.begin(), side.launches.end(), op.begin_ns,
                         [](const HostLaunch& launch, int64_t ns) { return launch.host_ns < ns; });
    if (found != side.launches.end() && IsPoint(*found, op.begin_ns)) {
      op.launch = static_cast<uint32_t>(found - side.launches.begin());
    }
  }
}

bool IsLaunchFlow(std::string_view lower, const Side& side, const SheetOptions& options) {
  if (!side.is_gpu) return lower == "async_npu";
  if (!options.gpu_flow_category.empty()) return lower == LowerCase(options.gpu_flow_category);
  return std::find(kGpuFlowCategories.begin(), kGpuFlowCategories.end(), lower) !=
         kGpuFlowCategories.end();
}

// Device slices by track and start; of several the last one.
std::map<std::pair<TrackId, int64_t>, SliceId> SlicesByStart(const Side& side,
                                                             const SheetOptions& options) {
  const bool with_collectives =
      !side.is_gpu && (options.wanted.communication || options.wanted.overall);
  std::map<std::pair<TrackId, int64_t>, SliceId> by_start;
  const store::SliceTable& slices = side.store.slices;
  const std::vector<TrackKind>& tracks = side.view.tracks();
  const auto add = [&](TrackKind wanted) {
    for (size_t i = 0; i < slices.size(); ++i) {
      const auto track = static_cast<size_t>(slices.track[i]);
      if (track >= tracks.size()) continue;
      if (side.is_gpu) {
        const SliceKind kind = side.view.slice_kinds()[slices.category[i]];
        if (kind != SliceKind::kKernel && kind != SliceKind::kMemcpy) continue;
      } else if (tracks[track] != wanted) {
        continue;
      }
      by_start[{slices.track[i], slices.begin_ns[i]}] = static_cast<SliceId>(i);
    }
  };
  add(TrackKind::kDevice);
  if (with_collectives) add(TrackKind::kCommGroup);
  return by_start;
}

void LinkTextAsReference(Side& side, const SheetOptions& options) {
  EventMaker make(side, options);
  const auto by_start = SlicesByStart(side, options);
  const store::FlowTable& flows = side.store.flows;
  std::unordered_map<StringId, bool> is_launch;
  std::unordered_map<int64_t, size_t> launch_at;
  std::vector<std::pair<size_t, SliceId>> arrows;  // flows, and what they lead to
  std::unordered_map<int64_t, size_t> arrow_of;    // by the id of Kineto's arrows
  for (size_t i = 0; i < flows.size(); ++i) {
    const auto [known, is_new] = is_launch.try_emplace(flows.kind[i], false);
    if (is_new) {
      known->second = IsLaunchFlow(LowerCase(side.store.Text(flows.kind[i])), side, options);
    }
    if (!known->second) continue;
    const auto slice = by_start.find({flows.to_track[i], flows.to_ns[i]});
    if (slice == by_start.end()) continue;
    const int64_t id = side.store.slices.correlation[static_cast<size_t>(slice->second)];
    if (side.is_gpu && id != kNone) {
      // Of several arrows of one id the reference keeps the last.
      const auto [place, is_first] = arrow_of.try_emplace(id, arrows.size());
      if (!is_first) {
        arrows[place->second] = {i, slice->second};
        continue;
      }
    }
    arrows.emplace_back(i, slice->second);
  }
  for (const auto& [i, slice] : arrows) {
    const auto [place, is_first] = launch_at.try_emplace(flows.from_ns[i], side.launches.size());
    if (is_first) side.launches.push_back({flows.from_ns[i], flows.from_track[i], {}});
    side.launches[place->second].events.push_back(make.OfSlice(slice));
  }
  LinkByStart(side);
}

// A row of the reference's list of operators has one connection; an operator has as many rows.
void LinkDbAsReference(Side& side, const SheetOptions& options) {
  EventMaker make(side, options);
  std::unordered_map<int64_t, std::vector<uint32_t>> kernels_of;  // by connection
  for (const uint32_t row : ComputeKernels(side)) {
    if (!side.IsDeviceTime(side.store.kernels.begin_ns[row])) continue;
    kernels_of[side.store.kernels.correlation[row]].push_back(make.OfKernel(row));
  }
  // Connections of operators: what arrows lead to, and one for each arrow to the backward pass.
  const store::FlowTable& flows = side.store.flows;
  const store::SliceTable& slices = side.store.slices;
  std::map<std::pair<TrackId, int64_t>, std::set<int64_t>> connections;
  std::map<std::pair<TrackId, int64_t>, int64_t> correlation_at;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (slices.correlation[i] != kNone) {
      correlation_at[{slices.track[i], slices.begin_ns[i]}] = slices.correlation[i];
    }
  }
  std::map<std::pair<TrackId, int64_t>, size_t> other_rows;
  for (size_t i = 0; i < flows.size(); ++i) {
    const std::string_view kind = side.store.Text(flows.kind[i]);
    if (kind == "fwdbwd") {
      ++other_rows[{flows.from_track[i], flows.from_ns[i]}];
      ++other_rows[{flows.to_track[i], flows.to_ns[i]}];
    }
    if (kind != "async_npu") continue;
    const auto target = correlation_at.find({flows.to_track[i], flows.to_ns[i]});
    if (target == correlation_at.end()) continue;
    connections[{flows.from_track[i], flows.from_ns[i]}].insert(target->second);
  }
  std::vector<HostEvent> rows;
  std::map<std::pair<TrackId, int64_t>, bool> is_linked;
  for (const HostEvent& op : side.ops) {
    const std::pair<TrackId, int64_t> at{op.track, op.begin_ns};
    const auto found = connections.find(at);
    const auto others = other_rows.find(at);
    size_t count = (found == connections.end() ? 0 : found->second.size()) +
                   (others == other_rows.end() ? 0 : others->second);
    if (!is_linked.try_emplace(at, true).second) count = 0;  // another operator of the same start
    if (count == 0) {
      rows.push_back(op);
      continue;
    }
    if (others != other_rows.end()) rows.insert(rows.end(), others->second, op);
    if (found == connections.end()) continue;
    for (const int64_t connection : found->second) {
      HostEvent row = op;
      const auto kernels = kernels_of.find(connection);
      if (kernels != kernels_of.end()) {
        row.launch = static_cast<uint32_t>(side.launches.size());
        side.launches.push_back({op.begin_ns, op.track, kernels->second});
      }
      rows.push_back(row);
    }
  }
  side.ops = std::move(rows);
}

// The operator around a point of the host, of those that are compared.
class OwnerFinder {
 public:
  explicit OwnerFinder(const Side& side) : side_(side) {
    for (uint32_t i = 0; i < side.ops.size(); ++i) {
      by_place_[{side.ops[i].track, side.ops[i].begin_ns, side.ops[i].end_ns}] = i;
    }
  }
  // By the slice, or the innermost one around it that is among the operators.
  uint32_t OfSlice(SliceId slice) const {
    const store::SliceTable& slices = side_.store.slices;
    for (; slice != kNoSlice; slice = side_.view.nesting().parent[static_cast<size_t>(slice)]) {
      const auto row = static_cast<size_t>(slice);
      const auto found = by_place_.find(
          {slices.track[row], slices.begin_ns[row], slices.begin_ns[row] + slices.dur_ns[row]});
      if (found != by_place_.end()) return found->second;
    }
    return kNoId;
  }

 private:
  const Side& side_;
  std::map<std::tuple<TrackId, int64_t, int64_t>, uint32_t> by_place_;
};

void LinkByOwner(Side& side, const SheetOptions& options) {
  EventMaker make(side, options);
  const OwnerFinder owners(side);
  const HostOpFinder finder(side.store);
  std::unordered_map<uint32_t, uint32_t> launch_of;  // by operator
  ForEachOperatorLaunch(side.store, side.view.tracks(), [&](const Launch& launch) {
    const SliceId call = side.is_gpu && launch.call != kNoSlice
                             ? launch.call
                             : finder.Find(launch.host_track, launch.host_ns);
    const uint32_t op = owners.OfSlice(call);
    if (op == kNoId) return;
    const auto [place, is_new] =
        launch_of.try_emplace(op, static_cast<uint32_t>(side.launches.size()));
    if (is_new) side.launches.push_back({launch.host_ns, launch.host_track, {}});
    side.launches[place->second].events.push_back(make.OfSlice(launch.device));
    side.ops[op].launch = place->second;
  });
}

}  // namespace

void CollectLaunches(Side& side, const SheetOptions& options) {
  if (!options.compat) {
    LinkByOwner(side, options);
  } else if (side.is_db) {
    LinkDbAsReference(side, options);
  } else {
    LinkTextAsReference(side, options);
  }
}

}  // namespace steplens::analysis::compare
