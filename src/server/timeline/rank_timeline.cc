#include "server/timeline/rank_timeline.h"

#include "analysis/classify/classify.h"

namespace steplens::server {

using store::TraceStore;

std::unique_ptr<RankTimeline> RankTimeline::Build(const TraceStore& store, ThreadPool& pool) {
  auto out = std::make_unique<RankTimeline>();
  out->name_ids_.assign(store.strings.size(), 0);
  std::vector<bool> used(store.strings.size(), false);
  for (const StringId name : store.slices.name) used[static_cast<size_t>(name)] = true;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) out->used_names_.push_back(StringId{static_cast<uint32_t>(i)});
  }
  out->is_python_.assign(store.strings.size(), false);
  const analysis::SliceKinds kinds(store);
  for (size_t i = 0; i < out->is_python_.size(); ++i) {
    const StringId id{static_cast<uint32_t>(i)};
    out->is_python_[i] = kinds[id] == analysis::SliceKind::kPython;
  }
  out->extent_ = store::ComputeExtent(store);
  out->flows_ = FlowIndex(store);
  out->has_flow_.assign(store.flows.size() > 0 ? store.slices.size() : 0, false);
  out->steps_ = analysis::ComputeStepRanges(store);
  BuildLaneTree(store, pool, *out);
  for (const auto& lane : out->lanes_) {
    if (lane->kind != LaneKind::kSlices || lane->is_derived() || lane->is_python()) continue;
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
  return IsPython(store.slices.category[slice]) ? stack_of_track_[track] : lane_of_track_[track];
}

const Lane* RankTimeline::LaneOf(store::TrackId track) const {
  const auto t = static_cast<size_t>(track);
  if (t >= lane_of_track_.size()) return nullptr;
  return lane_of_track_[t] != nullptr ? lane_of_track_[t] : stack_of_track_[t];
}

size_t RankTimeline::bytes() const {
  size_t total = name_ids_.capacity() * sizeof(uint32_t) + flows_.bytes() + has_flow_.size() / 8;
  for (const auto& lane : lanes_)
    total += sizeof(Lane) + lane->rows.bytes() + lane->counter.bytes() + lane->summary.bytes();
  for (const auto& derived : derived_) total += derived->begin_ns.capacity() * 20;
  return total;
}

}  // namespace steplens::server
