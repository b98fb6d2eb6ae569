#include "analysis/operators/host_ops.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/classify/classify.h"
#include "analysis/launches/launches.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNoSlice;
using store::SliceId;
using store::TraceStore;

TrackIndex IndexHostOps(const TraceStore& store) {
  const SliceKinds kinds(store);
  const auto category = store.slices.category.span();
  return BuildTrackIndex(store, [&](size_t i) { return kinds[category[i]] == SliceKind::kHostOp; });
}

// Which device slices count for 'With AICore': those of task type AI_CORE, as the exporter of the
// trace writes it. A db has the types of the driver instead, in which the sub-tasks of a mixed
// kernel look like AI core tasks; its kernel row tells them apart.
class AiCoreTasks {
 public:
  explicit AiCoreTasks(const TraceStore& store) : store_(store), slice_kinds_(store) {
    const auto cube = store.strings.Find("AI_CORE");
    const auto vector = store.strings.Find("AI_VECTOR_CORE");
    ai_core_ = cube.value_or(StringId::kEmpty);
    driver_cube_ = store.strings.Find("KERNEL_AICORE").value_or(StringId::kEmpty);
    driver_vector_ = store.strings.Find("KERNEL_AIVEC").value_or(StringId::kEmpty);
    if (driver_cube_ == StringId::kEmpty && driver_vector_ == StringId::kEmpty) return;
    for (size_t i = 0; i < store.kernels.size(); ++i) {
      const StringId core = store.kernels.core[i];
      const bool is_known = core != StringId::kEmpty && store.Text(core) != "N/A";
      const bool is_mixed =
          is_known ? core != cube && core != vector : store.kernels.context_id[i] != store::kNone;
      if (is_mixed) mixed_.emplace_back(store.kernels.begin_ns[i], store.kernels.name[i]);
    }
    std::sort(mixed_.begin(), mixed_.end());
  }

  // The category of a GPU slice is no task type.
  bool KnowsType(size_t slice) const {
    const StringId type = store_.slices.category[slice];
    return type != StringId::kEmpty && !IsGpuWork(slice_kinds_[type]);
  }
  bool Contains(size_t slice) const {
    const StringId type = store_.slices.category[slice];
    if (type == StringId::kEmpty) return false;
    if (type == ai_core_) return true;
    if (type != driver_cube_ && type != driver_vector_) return false;
    return !std::binary_search(mixed_.begin(), mixed_.end(),
                               std::pair(store_.slices.begin_ns[slice], store_.slices.name[slice]));
  }

 private:
  const TraceStore& store_;  // outlives this, which lives for one call
  SliceKinds slice_kinds_;
  StringId ai_core_, driver_cube_, driver_vector_;
  std::vector<std::pair<int64_t, StringId>> mixed_;  // start and name
};

// Adds to each operator what it launched itself. `place`: slice -> place in ops.
void AddOwnDeviceTimes(const TraceStore& store, const HostOpFinder& finder,
                       const std::vector<uint32_t>& place, HostOps& result) {
  const AiCoreTasks aicore(store);
  ForEachOperatorLaunch(store, ClassifyTracks(store), [&](const Launch& launch) {
    const SliceId slice = finder.Find(launch.host_track, launch.host_ns);
    if (slice == kNoSlice) return;
    const auto d = static_cast<size_t>(launch.device);
    const int64_t dur_ns = store.slices.dur_ns[d];
    result.knows_aicore = result.knows_aicore || aicore.KnowsType(d);
    HostOp& op = result.ops[place[static_cast<size_t>(slice)]];
    op.device_self_ns = AddNs(op.device_self_ns, dur_ns);
    if (aicore.Contains(d)) op.device_self_aicore_ns = AddNs(op.device_self_aicore_ns, dur_ns);
  });
}

// Children follow their parents, so from back to front a total is complete when it is passed on.
void PassToParents(const std::vector<uint32_t>& place, std::vector<HostOp>& ops) {
  for (size_t i = ops.size(); i-- > 0;) {
    HostOp& op = ops[i];
    op.host_self_ns = AddNs(op.host_self_ns, op.host_total_ns);
    op.device_total_ns = AddNs(op.device_total_ns, op.device_self_ns);
    op.device_total_aicore_ns = AddNs(op.device_total_aicore_ns, op.device_self_aicore_ns);
    if (op.parent == kNoSlice) continue;
    HostOp& parent = ops[place[static_cast<size_t>(op.parent)]];
    parent.host_self_ns = AddNs(parent.host_self_ns, -op.host_total_ns);
    parent.device_total_ns = AddNs(parent.device_total_ns, op.device_total_ns);
    parent.device_total_aicore_ns = AddNs(parent.device_total_aicore_ns, op.device_total_aicore_ns);
  }
}

}  // namespace

HostOpFinder::HostOpFinder(const TraceStore& store)
    : store_(store), index_(IndexHostOps(store)), nesting_(ComputeNesting(store, index_)) {}

SliceId HostOpFinder::Find(store::TrackId track, int64_t ts_ns) const {
  const SliceId last = index_.LastStarted(store_, track, ts_ns);
  if (last == kNoSlice || store_.slices.begin_ns[static_cast<size_t>(last)] == ts_ns) return last;
  return nesting_.InnermostAt(store_, index_, track, ts_ns);
}

uint32_t FindHostOpDetail(const TraceStore& store, SliceId slice) {
  const auto rows = store.host_ops.slice.span();
  const auto it = std::lower_bound(rows.begin(), rows.end(), slice);
  if (it == rows.end() || *it != slice) return store::kNoId;
  return static_cast<uint32_t>(it - rows.begin());
}

HostOps ComputeHostOps(const TraceStore& store) {
  HostOps result;
  {
    const HostOpFinder finder(store);
    const std::vector<SliceId>& order = finder.index().order;
    std::vector<uint32_t> place(store.slices.size(), store::kNoId);
    result.ops.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const auto slice = static_cast<size_t>(order[i]);
      place[slice] = static_cast<uint32_t>(i);
      result.ops[i].slice = order[i];
      result.ops[i].parent = finder.nesting().parent[slice];
      result.ops[i].host_total_ns = store.slices.dur_ns[slice];
    }
    for (uint32_t row = 0; row < store.host_ops.size(); ++row) {
      const auto slice = static_cast<size_t>(store.host_ops.slice[row]);
      if (slice >= place.size() || place[slice] == store::kNoId) continue;
      uint32_t& detail = result.ops[place[slice]].detail;
      if (detail == store::kNoId) detail = row;
    }
    AddOwnDeviceTimes(store, finder, place, result);
    PassToParents(place, result.ops);
  }
  const auto begin_ns = store.slices.begin_ns.span();
  const auto before = [&](const HostOp& a, const HostOp& b) {
    const auto key = [&](const HostOp& op) {
      return std::tuple(begin_ns[static_cast<size_t>(op.slice)], -op.host_total_ns, op.slice);
    };
    return key(a) < key(b);
  };
  // One thread's operators are in order already.
  if (!std::is_sorted(result.ops.begin(), result.ops.end(), before))
    std::sort(result.ops.begin(), result.ops.end(), before);
  return result;
}

}  // namespace steplens::analysis
