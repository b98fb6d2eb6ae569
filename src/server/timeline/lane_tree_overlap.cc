#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "analysis/overlap/sweep.h"
#include "server/timeline/lane_tree.h"

namespace steplens::server {

using analysis::Interval;

std::vector<analysis::DeviceWork> TreeBuilder::WorkOfDevices() const {
  if (analysis::DetectPlatform(store_, kinds_) == analysis::Platform::kHostOnly) return {};
  return analysis::CollectDeviceWork(store_);
}

// What the reference's Overlap Analysis shows, where the capture lacks it.
void TreeBuilder::AddDerivedOverlap(const std::vector<analysis::DeviceWork>& devices) {
  if (devices.empty()) return;
  Interval hull = DeviceHull();
  for (const analysis::DeviceWork& work : devices) {
    if (work.compute.empty() && work.communication.empty()) continue;
    for (const auto* list : {&work.compute, &work.communication}) {
      for (const Interval& in : *list)
        hull = {std::min(hull.begin_ns, in.begin_ns), std::max(hull.end_ns, in.end_ns)};
    }
    std::string name = "Overlap Analysis";
    if (devices.size() > 1) name += fmt::format(" ({})", work.device);
    Lane& group = Add(LaneKind::kGroup, 1, name, Root() + "/overlap");
    const uint32_t id = group.id;
    const std::string path = group.path;
    std::array<RankTimeline::Derived*, 4> parts{};
    for (RankTimeline::Derived*& one : parts) {
      one = out_.derived_.emplace_back(std::make_unique<RankTimeline::Derived>()).get();
    }
    analysis::ForEachPiece(work.compute, work.communication, hull,
                           [&](analysis::PieceKind kind, Interval in) {
                             RankTimeline::Derived& part = *parts[static_cast<size_t>(kind)];
                             part.begin_ns.push_back(in.begin_ns);
                             part.dur_ns.push_back(in.end_ns - in.begin_ns);
                           });
    static constexpr std::array<std::string_view, 4> kNames = {
        "Computing", "Communication", "Communication(Not Overlapped)", "Free"};
    for (size_t k = 0; k < parts.size(); ++k) {
      parts[k]->text = kNames[k];
      AddDerivedLane(*parts[k], id, path);
    }
  }
}

// When any plane of the communication waited for another rank, beside the overlap lanes.
void TreeBuilder::AddWaits() {
  const auto wait = store_.strings.Find("Notify_Wait");
  const auto group = std::find_if(out_.lanes_.begin(), out_.lanes_.end(), [&](const auto& lane) {
    return lane->kind == LaneKind::kGroup && lane->path == Root() + "/overlap";
  });
  if (!wait || group == out_.lanes_.end()) return;
  std::vector<Interval> waits;
  for (const auto& lane : out_.lanes_) {
    if ((lane->flags & kCommPlaneLane) == 0) continue;
    for (size_t i = 0; i < lane->rows.size(); ++i) {
      const uint32_t slice = lane->rows.slice_at(i);
      if (store_.slices.name[slice] == *wait && columns_.end(slice) > columns_.begin(slice))
        waits.push_back({columns_.begin(slice), columns_.end(slice)});
    }
  }
  if (waits.empty()) return;
  std::sort(waits.begin(), waits.end(), [](const Interval& a, const Interval& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns < b.end_ns;
  });
  auto& part = *out_.derived_.emplace_back(std::make_unique<RankTimeline::Derived>());
  part.text = "Wait";
  int64_t reach_ns = std::numeric_limits<int64_t>::min();
  for (const Interval& one : waits) {
    if (one.begin_ns > reach_ns) {
      part.begin_ns.push_back(one.begin_ns);
      part.dur_ns.push_back(0);
    }
    reach_ns = std::max(reach_ns, one.end_ns);
    part.dur_ns.back() = reach_ns - part.begin_ns.back();
  }
  AddDerivedLane(part, (*group)->id, std::string((*group)->path));
  out_.lanes_.back()->flags |= kAsideLane;
}

Interval TreeBuilder::DeviceHull() const {
  Interval hull{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const auto& lane : out_.lanes_) {
    if ((lane->flags & kDeviceLane) == 0) continue;
    for (size_t r = 0; r < lane->rows.rows(); ++r) {
      const auto slices = lane->rows.row(r);
      hull = {std::min(hull.begin_ns, columns_.begin(slices.front())),
              std::max(hull.end_ns, columns_.end(slices.back()))};
    }
  }
  return hull;
}

void TreeBuilder::AddDerivedLane(RankTimeline::Derived& part, uint32_t group,
                                 const std::string& path) {
  const size_t count = part.begin_ns.size();
  if (count == 0) return;
  const auto no_names = store::UnknownRun<StringId>::Of(count).first(count);
  part.name_id.assign(1, 0);
  part.packed = PackedTimes::Pack(part.begin_ns, part.dur_ns);
  SliceColumns columns{{}, {}, no_names, part.name_id};
  if (part.packed) {
    part.begin_ns = std::vector<int64_t>();
    part.dur_ns = std::vector<int64_t>();
    columns.packed = &*part.packed;
  } else {
    part.begin_ns.shrink_to_fit();
    part.dur_ns.shrink_to_fit();
    columns.begin_ns = part.begin_ns;
    columns.dur_ns = part.dur_ns;
  }
  Lane& lane = Add(LaneKind::kSlices, group, part.text, path + "/" + Slug(part.text));
  lane.flags = kOverlapLane | kDerivedLane;
  lane.count = count;
  std::vector<uint32_t> slices(count);
  std::iota(slices.begin(), slices.end(), uint32_t{0});
  content_.back() = {columns, std::move(slices)};
}

}  // namespace steplens::server
