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

// Sums over one slice id each: own and, after AddToAncestors, total.
struct DeviceTime {
  int64_t all_ns = 0;
  int64_t aicore_ns = 0;
  void Add(const DeviceTime& other) {
    all_ns = AddNs(all_ns, other.all_ns);
    aicore_ns = AddNs(aicore_ns, other.aicore_ns);
  }
};

struct OwnDeviceTimes {
  std::vector<DeviceTime> ops;  // of each operator itself, in the order of the finder's index
  bool knows_aicore = false;
};

OwnDeviceTimes ComputeOwnDeviceTimes(const TraceStore& store, const HostOpFinder& finder,
                                     const std::vector<uint32_t>& place) {
  OwnDeviceTimes own;
  own.ops.resize(finder.index().order.size());
  const AiCoreTasks aicore(store);
  ForEachOperatorLaunch(store, ClassifyTracks(store), [&](const Launch& launch) {
    const SliceId op = finder.Find(launch.host_track, launch.host_ns);
    if (op == kNoSlice) return;
    const auto d = static_cast<size_t>(launch.device);
    const int64_t dur_ns = store.slices.dur_ns[d];
    own.knows_aicore = own.knows_aicore || aicore.KnowsType(d);
    own.ops[place[static_cast<size_t>(op)]].Add({dur_ns, aicore.Contains(d) ? dur_ns : 0});
  });
  return own;
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
  const HostOpFinder finder(store);
  const std::vector<SliceId>& order = finder.index().order;
  const std::vector<SliceId>& parents = finder.nesting().parent;
  std::vector<uint32_t> place(store.slices.size(), store::kNoId);
  for (size_t i = 0; i < order.size(); ++i) {
    place[static_cast<size_t>(order[i])] = static_cast<uint32_t>(i);
  }
  const OwnDeviceTimes own = ComputeOwnDeviceTimes(store, finder, place);
  std::vector<DeviceTime> total = own.ops;
  std::vector<int64_t> host_self_ns(order.size());
  // Children follow their parents in the index, so from back to front a total is complete when it
  // is passed on.
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t dur_ns = store.slices.dur_ns[static_cast<size_t>(order[i])];
    host_self_ns[i] = AddNs(host_self_ns[i], dur_ns);
    const SliceId parent = parents[static_cast<size_t>(order[i])];
    if (parent == kNoSlice) continue;
    const uint32_t p = place[static_cast<size_t>(parent)];
    host_self_ns[p] = AddNs(host_self_ns[p], -dur_ns);
    total[p].Add(total[i]);
  }

  HostOps result;
  result.knows_aicore = own.knows_aicore;
  result.ops.reserve(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto s = static_cast<size_t>(order[i]);
    result.ops.push_back({order[i], parents[s], FindHostOpDetail(store, order[i]),
                          store.slices.dur_ns[s], host_self_ns[i], own.ops[i].all_ns,
                          total[i].all_ns, own.ops[i].aicore_ns, total[i].aicore_ns});
  }
  const auto begin_ns = store.slices.begin_ns.span();
  std::sort(result.ops.begin(), result.ops.end(), [&](const HostOp& a, const HostOp& b) {
    const auto key = [&](const HostOp& op) {
      return std::tuple(begin_ns[static_cast<size_t>(op.slice)], -op.host_total_ns, op.slice);
    };
    return key(a) < key(b);
  });
  return result;
}

}  // namespace steplens::analysis
