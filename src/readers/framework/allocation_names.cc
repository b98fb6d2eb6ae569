#include "readers/framework/allocation_names.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>

#include "base/outer_first.h"
#include "base/saturate.h"

namespace steplens::readers {

using store::kNoId;
using store::TraceStore;
using store::TrackId;

AllocationNames::AllocationNames(const TraceStore& store) : store_(store) {
  const auto op = store.strings.Find("cpu_op");
  const auto dequeue = store.strings.Find("dequeue");
  const auto enqueue = store.strings.Find("enqueue");
  const auto empty_tensor = store.strings.Find("empty_tensor");
  const auto workspace = store.strings.Find("malloc_workspace");
  TrackId last_track = store::kNoTrack;
  Lane* lane = nullptr;
  for (uint32_t i = 0; i < store.slices.size(); ++i) {
    const StringId category = store.slices.category[i];
    const TrackId track = store.slices.track[i];
    if (category == op) {
      const StringId name = store.slices.name[i];
      if (name == empty_tensor || name == workspace) continue;
      if (lane == nullptr || track != last_track) lane = &ops_[track];
      last_track = track;
      lane->slices.push_back(i);
    } else if (category == dequeue) {
      dequeues_[track].slices.push_back(i);
    } else if (category == enqueue) {
      enqueue_of_.try_emplace(store.slices.correlation[i], i);
    }
  }
  for (auto& [track, ops] : ops_) Nest(store, ops);
  for (auto& [track, items] : dequeues_) Nest(store, items);
}

void AllocationNames::Nest(const TraceStore& store, Lane& lane) {
  const auto begin_ns = store.slices.begin_ns.span();
  const auto dur_ns = store.slices.dur_ns.span();
  const auto before = [&](uint32_t a, uint32_t b) {
    return std::tuple(begin_ns[a], -dur_ns[a], b) < std::tuple(begin_ns[b], -dur_ns[b], a);
  };
  OuterFirst(begin_ns, std::span(lane.slices));
  if (!std::is_sorted(lane.slices.begin(), lane.slices.end(), before))
    std::sort(lane.slices.begin(), lane.slices.end(), before);
  lane.parent.reserve(lane.slices.size());
  std::vector<uint32_t> open;
  for (uint32_t place = 0; place < lane.slices.size(); ++place) {
    const uint32_t slice = lane.slices[place];
    const auto ended = [&](uint32_t other) {
      const uint32_t o = lane.slices[other];
      return AddSaturating(begin_ns[o], dur_ns[o]) < begin_ns[slice];
    };
    while (!open.empty() && ended(open.back())) open.pop_back();
    lane.parent.push_back(open.empty() ? kNoId : open.back());
    open.push_back(place);
  }
}

uint32_t AllocationNames::LastStarted(const Lane& lane, int64_t ts_ns) const {
  const auto after =
      std::upper_bound(lane.slices.begin(), lane.slices.end(), ts_ns,
                       [&](int64_t ts, uint32_t s) { return ts < store_.slices.begin_ns[s]; });
  return after == lane.slices.begin() ? kNoId
                                      : static_cast<uint32_t>(after - lane.slices.begin()) - 1;
}

int64_t AllocationNames::EndNs(uint32_t slice) const {
  return AddSaturating(store_.slices.begin_ns[slice], store_.slices.dur_ns[slice]);
}

StringId AllocationNames::FindThroughQueue(const Lane& dequeues, int64_t ts_ns) const {
  const uint32_t item = LastStarted(dequeues, ts_ns);
  if (item == kNoId || EndNs(dequeues.slices[item]) < ts_ns) return StringId::kEmpty;
  const auto enqueue = enqueue_of_.find(store_.slices.correlation[dequeues.slices[item]]);
  if (enqueue == enqueue_of_.end()) return StringId::kEmpty;
  const auto ops = ops_.find(store_.slices.track[enqueue->second]);
  if (ops == ops_.end()) return StringId::kEmpty;
  uint32_t place = LastStarted(ops->second, store_.slices.begin_ns[enqueue->second]);
  for (; place != kNoId; place = ops->second.parent[place]) {
    const StringId name = store_.slices.name[ops->second.slices[place]];
    const std::string_view text = store_.Text(name);
    if (text.starts_with("aten") || text.starts_with("npu")) return name;
  }
  return StringId::kEmpty;
}

StringId AllocationNames::Find(TrackId track, int64_t ts_ns) const {
  if (const auto dequeues = dequeues_.find(track); dequeues != dequeues_.end()) {
    return FindThroughQueue(dequeues->second, ts_ns);
  }
  const auto ops = ops_.find(track);
  if (ops == ops_.end()) return StringId::kEmpty;
  for (uint32_t place = LastStarted(ops->second, ts_ns); place != kNoId;
       place = ops->second.parent[place]) {
    const uint32_t slice = ops->second.slices[place];
    if (EndNs(slice) >= ts_ns) return store_.slices.name[slice];
  }
  return StringId::kEmpty;
}

}  // namespace steplens::readers
