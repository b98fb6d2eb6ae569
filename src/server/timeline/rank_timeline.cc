#include "server/timeline/rank_timeline.h"

#include "analysis/classify/classify.h"

namespace steplens::server {

using store::TraceStore;

namespace {

// Counters begin before the work and end behind it. A sample more than a day away is an outlier.
store::Extent WithCounters(store::Extent work, const std::vector<std::unique_ptr<Lane>>& lanes) {
  constexpr int64_t kDayNs = 86400LL * 1000000000LL;
  const bool has_work = work.end_ns > work.begin_ns;
  const int64_t first_ns = SubtractSaturating(work.begin_ns, kDayNs);
  const int64_t last_ns = AddSaturating(work.end_ns, kDayNs);
  store::Extent out = work;
  bool is_empty = !has_work;
  for (const auto& lane : lanes) {
    const CounterLane& counter = lane->counter;
    for (size_t at = 0; at < counter.size(); at += std::max<size_t>(counter.size() - 1, 1)) {
      const int64_t ts_ns = counter.ts_ns(at);
      if (has_work && (ts_ns < first_ns || ts_ns > last_ns)) continue;
      out.begin_ns = is_empty ? ts_ns : std::min(out.begin_ns, ts_ns);
      out.end_ns = is_empty ? ts_ns : std::max(out.end_ns, ts_ns);
      is_empty = false;
    }
  }
  return out;
}

}  // namespace

std::unique_ptr<RankTimeline> RankTimeline::Build(const TraceStore& store, ThreadPool& pool) {
  auto out = std::make_unique<RankTimeline>();
  out->name_ids_.assign(store.strings.size(), 0);
  std::vector<bool> used(store.strings.size(), false);
  for (const StringId name : store.slices.name) used[static_cast<size_t>(name)] = true;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) out->used_names_.push_back(StringId{static_cast<uint32_t>(i)});
  }
  out->is_python_.assign(store.strings.size(), false);
  out->is_annotation_.assign(store.strings.size(), false);
  const analysis::SliceKinds kinds(store);
  for (size_t i = 0; i < out->is_python_.size(); ++i) {
    const StringId id{static_cast<uint32_t>(i)};
    out->is_python_[i] = kinds[id] == analysis::SliceKind::kPython;
    out->is_annotation_[i] = kinds[id] == analysis::SliceKind::kDeviceAnnotation;
  }
  out->flows_ = FlowIndex(store);
  out->has_flow_.assign(store.flows.size() > 0 ? store.slices.size() : 0, false);
  out->steps_ = analysis::ComputeStepRanges(store);
  BuildLaneTree(store, pool, *out);
  out->work_ = store::ComputeExtent(store);
  out->extent_ = WithCounters(out->work_, out->lanes_);
  for (const auto& lane : out->lanes_) {
    if (lane->kind != LaneKind::kSlices || lane->is_derived() || lane->is_python() ||
        lane->is_annotation())
      continue;
    MarkFlowSlices(store, out->flows_, lane->track, lane->rows, out->has_flow_);
  }
  return out;
}

void RankTimeline::AssignNames(const TraceStore& store, NamePool& names) {
  for (const StringId name : used_names_)
    name_ids_[static_cast<size_t>(name)] = names.Intern(store.Text(name));
  for (const auto& derived : derived_) derived->name_id.assign(1, names.Intern(derived->text));
}

const Lane* RankTimeline::LaneOf(const TraceStore& store, uint32_t slice) const {
  const auto track = static_cast<size_t>(store.slices.track[slice]);
  if (track >= lane_of_track_.size()) return nullptr;
  const StringId category = store.slices.category[slice];
  if (IsPython(category)) return stack_of_track_[track];
  return IsAnnotation(category) ? annotations_of_track_[track] : lane_of_track_[track];
}

const Lane* RankTimeline::LaneOf(store::TrackId track) const {
  const auto t = static_cast<size_t>(track);
  if (t >= lane_of_track_.size()) return nullptr;
  if (lane_of_track_[t] != nullptr) return lane_of_track_[t];
  return stack_of_track_[t] != nullptr ? stack_of_track_[t] : annotations_of_track_[t];
}

size_t RankTimeline::bytes() const {
  size_t total = name_ids_.capacity() * sizeof(uint32_t) + flows_.bytes() + has_flow_.size() / 8;
  for (const auto& lane : lanes_)
    total += sizeof(Lane) + lane->rows.bytes() + lane->work.bytes() + lane->counter.bytes() +
             lane->summary.bytes() + (lane->with_waits ? lane->with_waits->bytes() : 0);
  for (const auto& derived : derived_) {
    total += (derived->begin_ns.capacity() + derived->dur_ns.capacity()) * sizeof(int64_t);
    if (derived->packed) total += derived->packed->bytes();
  }
  return total;
}

}  // namespace steplens::server
