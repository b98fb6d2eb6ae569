#include "analysis/operators/host_ops.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "analysis/classify/classify.h"
#include "analysis/launches/launches.h"
#include "analysis/nesting/parents.h"
#include "analysis/time_math.h"

namespace steplens::analysis {
namespace {

using store::kNoId;
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

// The times of all operators, side by side in drawing order, track by track: a third of what the
// operators themselves would need.
class OperatorTimes {
 public:
  explicit OperatorTimes(const TraceStore& store)
      : store_(store),
        index_(IndexHostOps(store)),
        last_found_(index_.first),
        parent_(index_.order.size(), kNoId),
        host_self_ns_(index_.order.size()),
        device_self_ns_(index_.order.size()) {
    FindParents();
    AddLaunches();
    PassToParents();
  }

  bool knows_aicore() const { return knows_aicore_; }

  // All operators by start, outer before inner, all threads together.
  void ForEach(const std::function<void(const HostOp&)>& visit) const {
    std::vector<uint32_t> tracks;
    for (uint32_t t = 0; t + 1 < index_.first.size(); ++t) {
      if (index_.first[t] < index_.first[t + 1]) tracks.push_back(t);
    }
    std::vector<uint32_t> next(index_.first.begin(), index_.first.end());  // by track
    const auto later = [&](uint32_t a, uint32_t b) { return KeyOf(next[a]) > KeyOf(next[b]); };
    std::make_heap(tracks.begin(), tracks.end(), later);
    while (!tracks.empty()) {
      std::pop_heap(tracks.begin(), tracks.end(), later);
      const uint32_t track = tracks.back();
      tracks.pop_back();
      const uint32_t end = index_.first[track + 1];
      // A run of one thread's operators costs one comparison each.
      do {
        visit(At(next[track]++));
      } while (next[track] < end && (tracks.empty() || !later(track, tracks.front())));
      if (next[track] == end) continue;
      tracks.push_back(track);
      std::push_heap(tracks.begin(), tracks.end(), later);
    }
  }

 private:
  size_t SliceAt(uint32_t place) const { return static_cast<size_t>(index_.order[place]); }
  int64_t BeginNs(uint32_t place) const { return store_.slices.begin_ns[SliceAt(place)]; }
  int64_t DurNs(uint32_t place) const { return store_.slices.dur_ns[SliceAt(place)]; }
  std::tuple<int64_t, int64_t, SliceId> KeyOf(uint32_t place) const {
    return {BeginNs(place), -DurNs(place), index_.order[place]};
  }

  void FindParents() {
    for (uint32_t t = 0; t + 1 < index_.first.size(); ++t) {
      const uint32_t first = index_.first[t];
      ForEachParent(store_, index_.slices(store::TrackId{t}), [&](uint32_t place, uint32_t parent) {
        if (parent != kNoId) parent_[first + place] = first + parent;
      });
    }
  }

  // As HostOpFinder::Find, but for places. Launches mostly come in the order of their operators.
  uint32_t FindPlace(store::TrackId track, int64_t ts_ns) {
    const auto t = static_cast<size_t>(track);
    if (t + 1 >= index_.first.size()) return kNoId;
    const uint32_t first = index_.first[t];
    const uint32_t end = index_.first[t + 1];
    uint32_t& found = last_found_[t];
    constexpr uint32_t kNear = 8;
    const bool is_later = found < end && BeginNs(found) <= ts_ns;
    for (uint32_t i = 0; is_later && i < kNear && found + 1 < end; ++i) {
      if (BeginNs(found + 1) > ts_ns) break;
      ++found;
    }
    if (!is_later || (found + 1 < end && BeginNs(found + 1) <= ts_ns)) {
      const auto after =
          std::upper_bound(index_.order.begin() + first, index_.order.begin() + end, ts_ns,
                           [&](int64_t ts, SliceId s) {
                             return ts < store_.slices.begin_ns[static_cast<size_t>(s)];
                           });
      if (after == index_.order.begin() + first) return kNoId;
      found = static_cast<uint32_t>(after - index_.order.begin()) - 1;
    }
    uint32_t place = found;
    if (BeginNs(place) == ts_ns) return place;
    while (place != kNoId && ts_ns >= EndNs(BeginNs(place), DurNs(place))) place = parent_[place];
    return place;
  }

  void AddLaunches() {
    const AiCoreTasks aicore(store_);
    ForEachOperatorLaunch(store_, ClassifyTracks(store_), [&](const Launch& launch) {
      const uint32_t place = FindPlace(launch.host_track, launch.host_ns);
      if (place == kNoId) return;
      const auto d = static_cast<size_t>(launch.device);
      const int64_t dur_ns = store_.slices.dur_ns[d];
      knows_aicore_ = knows_aicore_ || aicore.KnowsType(d);
      const bool is_aicore = aicore.Contains(d);
      if (!is_aicore && aicore_self_ns_.empty()) aicore_self_ns_ = device_self_ns_;
      device_self_ns_[place] = AddNs(device_self_ns_[place], dur_ns);
      if (is_aicore && !aicore_self_ns_.empty())
        aicore_self_ns_[place] = AddNs(aicore_self_ns_[place], dur_ns);
    });
  }

  // Children follow their parents, so from back to front a total is complete when it is passed on.
  void PassToParents() {
    device_total_ns_ = device_self_ns_;
    aicore_total_ns_ = aicore_self_ns_;
    for (uint32_t place = static_cast<uint32_t>(index_.order.size()); place-- > 0;) {
      host_self_ns_[place] = AddNs(host_self_ns_[place], DurNs(place));
      const uint32_t parent = parent_[place];
      if (parent == kNoId) continue;
      host_self_ns_[parent] = AddNs(host_self_ns_[parent], -DurNs(place));
      device_total_ns_[parent] = AddNs(device_total_ns_[parent], device_total_ns_[place]);
      if (!aicore_total_ns_.empty())
        aicore_total_ns_[parent] = AddNs(aicore_total_ns_[parent], aicore_total_ns_[place]);
    }
  }

  // Raw captures have the rows of operators side by side with their slices.
  uint32_t DetailOf(SliceId slice) const {
    const auto rows = store_.host_ops.slice.span();
    const auto row = static_cast<size_t>(slice);
    const bool is_beside =
        row < rows.size() && rows[row] == slice && (row == 0 || rows[row - 1] != slice);
    return is_beside ? static_cast<uint32_t>(row) : FindHostOpDetail(store_, slice);
  }

  HostOp At(uint32_t place) const {
    const bool is_all_aicore = aicore_self_ns_.empty();
    HostOp op;
    op.slice = index_.order[place];
    if (parent_[place] != kNoId) op.parent = index_.order[parent_[place]];
    op.detail = DetailOf(op.slice);
    op.host_total_ns = DurNs(place);
    op.host_self_ns = host_self_ns_[place];
    op.device_self_ns = device_self_ns_[place];
    op.device_total_ns = device_total_ns_[place];
    op.device_self_aicore_ns = is_all_aicore ? op.device_self_ns : aicore_self_ns_[place];
    op.device_total_aicore_ns = is_all_aicore ? op.device_total_ns : aicore_total_ns_[place];
    return op;
  }

  const TraceStore& store_;  // outlives this, which lives for one call
  TrackIndex index_;
  std::vector<uint32_t> last_found_;  // by track
  std::vector<uint32_t> parent_;      // a place; kNoId: none
  std::vector<int64_t> host_self_ns_, device_self_ns_, device_total_ns_;
  std::vector<int64_t> aicore_self_ns_, aicore_total_ns_;  // empty: as those of the device
  bool knows_aicore_ = false;
};

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
  const OperatorTimes times(store);
  HostOps result;
  result.knows_aicore = times.knows_aicore();
  times.ForEach([&](const HostOp& op) { result.ops.push_back(op); });
  return result;
}

void ForEachHostOp(const TraceStore& store, const std::function<void(const HostOp&)>& visit) {
  OperatorTimes(store).ForEach(visit);
}

}  // namespace steplens::analysis
