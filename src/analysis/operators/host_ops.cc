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

// Which device slices ran on AI cores. The trace does not keep a task's core, kernel_details does:
// joined by start and name.
class AiCoreTasks {
 public:
  explicit AiCoreTasks(const TraceStore& store) {
    const auto cube = store.strings.Find("AI_CORE");
    const auto vector = store.strings.Find("AI_VECTOR_CORE");
    for (size_t i = 0; i < store.kernels.size(); ++i) {
      const StringId core = store.kernels.core[i];
      if (core != cube && core != vector) continue;
      tasks_.emplace_back(store.kernels.begin_ns[i], store.kernels.name[i]);
    }
    std::sort(tasks_.begin(), tasks_.end());
  }
  bool empty() const { return tasks_.empty(); }
  bool Contains(int64_t begin_ns, StringId name) const {
    return std::binary_search(tasks_.begin(), tasks_.end(), std::pair(begin_ns, name));
  }

 private:
  std::vector<std::pair<int64_t, StringId>> tasks_;
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

// Device time of each operator itself, in the order of the finder's index.
std::vector<DeviceTime> OwnDeviceTime(const TraceStore& store, const HostOpFinder& finder,
                                      const std::vector<uint32_t>& place,
                                      const AiCoreTasks& cores) {
  std::vector<DeviceTime> own(finder.index().order.size());
  ForEachOperatorLaunch(store, ClassifyTracks(store), [&](const Launch& launch) {
    const SliceId op = finder.Find(launch.host_track, launch.host_ns);
    if (op == kNoSlice) return;
    const auto d = static_cast<size_t>(launch.device);
    const int64_t dur_ns = store.slices.dur_ns[d];
    const bool on_core = cores.Contains(store.slices.begin_ns[d], store.slices.name[d]);
    own[place[static_cast<size_t>(op)]].Add({dur_ns, on_core ? dur_ns : 0});
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
  const AiCoreTasks cores(store);
  const std::vector<DeviceTime> own = OwnDeviceTime(store, finder, place, cores);
  std::vector<DeviceTime> total = own;
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
  result.knows_aicore = !cores.empty();
  result.ops.reserve(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto s = static_cast<size_t>(order[i]);
    result.ops.push_back({order[i], parents[s], FindHostOpDetail(store, order[i]),
                          store.slices.dur_ns[s], host_self_ns[i], own[i].all_ns, total[i].all_ns,
                          own[i].aicore_ns, total[i].aicore_ns});
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
