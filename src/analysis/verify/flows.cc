#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/time_math.h"
#include "analysis/verify/checks.h"
#include "analysis/verify/points.h"

namespace steplens::analysis::verify {
namespace {

std::vector<size_t> FlowsOfKind(const Context& context, std::string_view kind) {
  const store::FlowTable& flows = context.store.flows;
  std::vector<size_t> rows;
  const auto id = context.store.strings.Find(kind);
  if (!id) return rows;
  for (size_t i = 0; i < flows.size(); ++i) {
    if (flows.kind[i] == *id) rows.push_back(i);
  }
  return rows;
}

template <typename Wanted>
PointSet StartsOf(const Context& context, Wanted&& wanted) {
  const store::SliceTable& slices = context.store.slices;
  std::vector<Point> starts;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (wanted(i)) starts.push_back({slices.track[i], slices.begin_ns[i]});
  }
  return PointSet(std::move(starts));
}

bool IsDeviceTrack(TrackKind kind) {
  return kind == TrackKind::kDevice || kind == TrackKind::kCommGroup;
}

PointSet DeviceStarts(const Context& context) {
  return StartsOf(context, [&](size_t i) {
    return IsDeviceTrack(context.track_kind(context.store.slices.track[i]));
  });
}

PointSet EndsOfSlices(const Context& context) {
  const store::SliceTable& slices = context.store.slices;
  std::vector<Point> ends;
  ends.reserve(slices.size());
  for (size_t i = 0; i < slices.size(); ++i) {
    ends.push_back({slices.track[i], EndNs(slices.begin_ns[i], slices.dur_ns[i])});
  }
  return PointSet(std::move(ends));
}

bool HasCannSlices(const Context& context) {
  const auto tracks = context.store.slices.track.span();
  return std::any_of(tracks.begin(), tracks.end(), [&](store::TrackId track) {
    return context.track_kind(track) == TrackKind::kCann;
  });
}

std::string FlowText(const Context& context, size_t flow) {
  return fmt::format("{} flow from {} to {}", context.Text(context.store.flows.kind[flow]),
                     UsText(context.store.flows.from_ns[flow]),
                     UsText(context.store.flows.to_ns[flow]));
}

// Connection ids of the node-level launches of CANN, sorted.
std::vector<int64_t> LaunchIds(const Context& context) {
  const store::SliceTable& slices = context.store.slices;
  std::vector<int64_t> ids;
  const auto launch = context.store.strings.Find("Node@launch");
  if (!launch) return ids;
  for (size_t i = 0; i < slices.size(); ++i) {
    if (slices.name[i] == *launch && context.track_kind(slices.track[i]) == TrackKind::kCann) {
      ids.push_back(slices.correlation[i]);
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

// The number of the flow itself is not part of the store. It is the end in ns, so unique ids mean
// unique ends.
CheckResult CheckOpFlows(const Context& context) {
  Verdict verdict(
      context, "10",
      "Every async_npu flow leads from the start of an operator to a device task of its own");
  const std::vector<size_t> rows = FlowsOfKind(context, "async_npu");
  if (rows.empty()) return verdict.NotApplicable("no async_npu flows");
  const store::FlowTable& flows = context.store.flows;
  const PointSet op_starts = StartsOf(context, [&](size_t i) { return context.IsHostOp(i); });
  const PointSet device_starts = DeviceStarts(context);
  std::vector<int64_t> ends;
  for (const size_t i : rows) ends.push_back(flows.to_ns[i]);
  std::sort(ends.begin(), ends.end());

  for (const size_t i : rows) {
    std::string_view wrong;
    const auto [first, last] = std::equal_range(ends.begin(), ends.end(), flows.to_ns[i]);
    if (!op_starts.Has({flows.from_track[i], flows.from_ns[i]})) wrong = "no operator starts there";
    if (!device_starts.Has({flows.to_track[i], flows.to_ns[i]}))
      wrong = "no task starts at its end";
    // The db keeps connection ids instead, and tasks on different streams may start in the same ns.
    if (!context.is_db() && last - first > 1) wrong = "another one ends at the same time";
    verdict.Row(wrong.empty(), [&] { return fmt::format("{}: {}", FlowText(context, i), wrong); });
  }
  return verdict.Finish("flows");
}

CheckResult CheckLaunchFlows(const Context& context) {
  Verdict verdict(
      context, "11",
      "Every HostToDevice flow ends at the start of a task; kernels and collectives have one each");
  const std::vector<size_t> rows = FlowsOfKind(context, "HostToDevice");
  if (rows.empty()) return verdict.NotApplicable("no HostToDevice flows");
  const store::FlowTable& flows = context.store.flows;
  const PointSet device_starts = DeviceStarts(context);
  std::vector<Point> ends;
  for (const size_t i : rows) {
    ends.push_back({flows.to_track[i], flows.to_ns[i]});
    verdict.Row(device_starts.Has(ends.back()),
                [&] { return FlowText(context, i) + ": no task starts at its end"; });
  }
  const PointSet flow_ends(std::move(ends));
  const std::vector<store::SliceId>& slice_of = context.rank.kernel_slices().slice_of();
  for (size_t kernel = 0; kernel < slice_of.size(); ++kernel) {
    if (slice_of[kernel] == store::kNoSlice) continue;  // rule 12 speaks of those
    const auto slice = static_cast<size_t>(slice_of[kernel]);
    const size_t arrows =
        flow_ends.Count({context.store.slices.track[slice], context.store.slices.begin_ns[slice]});
    verdict.Row(arrows == 1, [&] {
      return fmt::format("{}: {} HostToDevice flows end at it, expected 1",
                         context.KernelText(kernel), arrows);
    });
  }
  verdict.Note(fmt::format("{} flows", rows.size()));
  return verdict.Finish("flow ends and kernels");
}

CheckResult CheckDbLaunches(const Context& context) {
  Verdict verdict(
      context, "16",
      "Every launch of an operator is known as a node-level CANN launch and as a device task");
  if (!context.is_db()) return verdict.NotApplicable("not a db");
  const std::vector<size_t> rows = FlowsOfKind(context, "async_npu");
  if (rows.empty()) return verdict.NotApplicable("no launch links in CONNECTION_IDS");
  const std::vector<int64_t> launches = LaunchIds(context);
  const store::SliceTable& slices = context.store.slices;
  // A host that is its own device has neither task queue nor CANN, and a db made of the text of
  // Level0 has lost CANN with it.
  const auto dequeue = context.store.strings.Find("dequeue");
  const bool has_queue = dequeue && std::find(slices.category.begin(), slices.category.end(),
                                              *dequeue) != slices.category.end();
  if (launches.empty() && (context.store.info.level == "Level0" || !has_queue))
    return verdict.NotApplicable("no node-level launches in CANN_API");
  for (const size_t i : rows) {
    const store::SliceId task = context.rank.flow_ends().to_slice[i];
    if (task == store::kNoSlice) {
      verdict.Row(false, [&] { return FlowText(context, i) + ": no such TASK"; });
      continue;
    }
    const int64_t id = slices.correlation[static_cast<size_t>(task)];
    verdict.Row(std::binary_search(launches.begin(), launches.end(), id), [&] {
      return fmt::format("{}: connection id {} has no launch in CANN_API", FlowText(context, i),
                         id == store::kNone ? "?" : std::to_string(id));
    });
  }
  return verdict.Finish("launches");
}

CheckResult CheckDanglingFlows(const Context& context) {
  Verdict verdict(context, "trace.dangling_flows",
                  "Every flow has both ends, and they lie on slices");
  const store::FlowTable& flows = context.store.flows;
  // The text of a Level0 capture leaves out the CANN slices, not the launches that start on them.
  const bool launches_hang = !HasCannSlices(context);
  const auto is_launch = [&](size_t i) { return context.Text(flows.kind[i]) == "HostToDevice"; };
  std::optional<PointSet> ends;  // of slices; few arrows need them
  const auto at_an_end = [&](Point point) {
    if (!ends) ends = EndsOfSlices(context);
    return ends->Has(point);
  };
  for (size_t i = 0; i < flows.size(); ++i) {
    const bool from_ok = context.rank.flow_ends().from_slice[i] != store::kNoSlice ||
                         (launches_hang && is_launch(i)) ||
                         at_an_end({flows.from_track[i], flows.from_ns[i]});
    const bool to_ok = context.rank.flow_ends().to_slice[i] != store::kNoSlice ||
                       at_an_end({flows.to_track[i], flows.to_ns[i]});
    verdict.Row(from_ok && to_ok, [&] {
      return fmt::format("{}: no slice at its {}", FlowText(context, i), from_ok ? "end" : "start");
    });
  }
  // Kineto captures begin and end in the middle of the work, so single ends are no fault there.
  // Ascend's files get both ends of a flow at once.
  const auto single = [&](store::IssueKind kind, std::string_view words) {
    const store::IssueLog::Entry& entry = context.store.issues.entry(kind);
    if (entry.count == 0) return;
    if (context.store.info.source == store::Source::kKineto)
      return verdict.Note(fmt::format("{} more {}", entry.count, words));
    verdict.Row(false, [&] {
      return fmt::format("{} more {}, first: {}", entry.count, words, entry.example);
    });
  };
  single(store::IssueKind::kFlowWithoutStart, "ends have no start");
  single(store::IssueKind::kFlowWithoutEnd, "starts have no end");
  return verdict.Finish("flows");
}

}  // namespace steplens::analysis::verify
