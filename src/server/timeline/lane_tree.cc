#include "server/timeline/lane_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "analysis/classify/cpu_words.h"
#include "analysis/classify/wait_kind.h"
#include "base/number.h"

namespace steplens::server {

using analysis::TrackKind;
using store::TraceStore;
using store::TrackId;

namespace {

uint32_t FlagsOf(TrackKind kind) {
  switch (kind) {
    case TrackKind::kHost:
      return kHostLane;
    case TrackKind::kCann:
      return kCannLane | kHostLane;
    case TrackKind::kDevice:
    case TrackKind::kUnknownDevice:
      return kDeviceLane;
    case TrackKind::kCommGroup:
      return kCommGroupLane | kDeviceLane;
    case TrackKind::kCommPlane:
      return kCommPlaneLane | kDeviceLane;
    case TrackKind::kOverlap:
      return kOverlapLane;
    case TrackKind::kOther:
      return 0;
  }
  return 0;
}

// Digits of a label like "NPU 0".
int64_t DeviceOf(std::string_view label, int64_t otherwise) {
  const size_t at = label.find_first_of("0123456789");
  if (at == std::string_view::npos) return otherwise == store::kNone ? 0 : otherwise;
  int64_t device = 0;
  for (size_t i = at;
       i < label.size() && std::isdigit(static_cast<unsigned char>(label[i])) && device < 100'000;
       ++i)
    device = device * 10 + (label[i] - '0');
  return device;
}

}  // namespace

std::string Slug(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || byte >= 0x80) {
      out += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
    } else if (c != ' ' && !out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "x" : out;
}

TreeBuilder::TreeBuilder(const TraceStore& store, ThreadPool& pool, RankTimeline& out)
    : store_(store),
      pool_(pool),
      out_(out),
      kinds_(analysis::ClassifyTracks(store)),
      is_wait_(store.strings.size(), false),
      is_cpu_(analysis::IsCpuCapture(store)) {
  for (size_t i = 0; i < is_wait_.size(); ++i)
    is_wait_[i] = analysis::IsDeviceWait(store.Text(StringId{static_cast<uint32_t>(i)}));
  columns_ = {store.slices.begin_ns.span(), store.slices.dur_ns.span(), store.slices.name.span(),
              out.name_ids_};
}

void TreeBuilder::Build() {
  SortSlices();
  Add(LaneKind::kRank, 0, std::to_string(store_.info.rank), fmt::format("r{}", store_.info.rank));
  for (const size_t process : Processes()) AddProcess(process);
  // What the device worked on is collected while the lanes that were read are stacked.
  const size_t lanes_read = out_.lanes_.size();
  std::vector<analysis::DeviceWork> work;
  pool_.ParallelFor(lanes_read + 1, [&](size_t i) {
    if (i > 0) return BuildRows(i - 1);
    if (!has_overlap_) work = WorkOfDevices();
  });
  AddDerivedOverlap(work);
  AddWaits();
  AddCounters();
  AddMemory();
  pool_.ParallelFor(out_.lanes_.size() - lanes_read, [&](size_t i) { BuildRows(lanes_read + i); });
  Summarize();
}

// Slice numbers by track; Python functions, and ranges of the host on a stream, apart.
void TreeBuilder::SortSlices() {
  const std::array<std::vector<std::vector<uint32_t>>*, 3> lists{&slices_, &stacks_, &annotations_};
  for (auto* list : lists) list->resize(TrackCount());
  const auto tracks = store_.slices.track.span();
  const auto categories = store_.slices.category.span();
  std::vector<size_t> count(lists.size() * TrackCount(), 0);
  const auto list_of = [&](size_t i) -> size_t {
    return out_.IsPython(categories[i]) ? 1 : out_.IsAnnotation(categories[i]) ? 2 : 0;
  };
  for (size_t i = 0; i < tracks.size(); ++i) {
    const auto t = static_cast<size_t>(tracks[i]);
    if (t < TrackCount()) ++count[lists.size() * t + list_of(i)];
  }
  for (size_t t = 0; t < TrackCount(); ++t) {
    for (size_t k = 0; k < lists.size(); ++k) (*lists[k])[t].reserve(count[lists.size() * t + k]);
  }
  for (size_t i = 0; i < tracks.size(); ++i) {
    const auto t = static_cast<size_t>(tracks[i]);
    if (t < TrackCount()) (*lists[list_of(i)])[t].push_back(static_cast<uint32_t>(i));
  }
  out_.lane_of_track_.assign(TrackCount(), nullptr);
  out_.stack_of_track_.assign(TrackCount(), nullptr);
  out_.annotations_of_track_.assign(TrackCount(), nullptr);
  content_.clear();
}

Lane& TreeBuilder::Add(LaneKind kind, uint32_t parent, std::string name, std::string path) {
  std::string unique = path;
  for (int n = 2; !paths_.insert(unique).second; ++n) unique = fmt::format("{}~{}", path, n);
  auto lane = std::make_unique<Lane>();
  lane->id = static_cast<uint32_t>(out_.lanes_.size() + 1);
  lane->parent = parent;
  lane->kind = kind;
  lane->name = std::move(name);
  lane->path = std::move(unique);
  lane->device = store_.info.device == store::kNone ? 0 : store_.info.device;
  out_.lanes_.push_back(std::move(lane));
  content_.emplace_back();
  return *out_.lanes_.back();
}

// By sort index, then name. A track with slices but without parent is its own group.
std::vector<size_t> TreeBuilder::Processes() {
  children_.resize(TrackCount());
  std::vector<size_t> out;
  for (size_t t = 0; t < TrackCount(); ++t) {
    if (IsCounter(t)) continue;
    if (ParentOf(t) < TrackCount() && ParentOf(t) != t) {
      children_[ParentOf(t)].push_back(t);
    } else {
      out.push_back(t);
    }
  }
  Order(out);
  return out;
}

void TreeBuilder::Order(std::vector<size_t>& tracks) const {
  std::stable_sort(tracks.begin(), tracks.end(), [&](size_t a, size_t b) {
    const int64_t index_a = SortIndex(a);
    const int64_t index_b = SortIndex(b);
    if (index_a != index_b) return index_a < index_b;
    return Text(store_.tracks.name[a]) < Text(store_.tracks.name[b]);
  });
}

int64_t TreeBuilder::SortIndex(size_t track) const {
  const int64_t index = store_.tracks.sort_index[track];
  return index == store::kNone ? 0 : index;
}

TreeBuilder::GroupName TreeBuilder::NameGroup(size_t process, uint32_t flags) const {
  const std::string_view name = Text(store_.tracks.name[process]);
  const std::string_view label = Text(store_.tracks.label[process]);
  if (name == "Ascend Hardware") return {is_cpu_ ? "CPU" : std::string(name), "hw"};
  if (name == "CANN") return {std::string(name), "cann"};
  if (name == "HCCL" || name == "Communication") return {"Communication", "comm"};
  if (name == "Overlap Analysis") return {std::string(name), "overlap"};
  if (name == "Python") return {fmt::format("Python ({})", Text(store_.tracks.pid[process])), "py"};
  if ((flags & kDeviceLane) != 0 && !label.empty())
    return {fmt::format("{} streams", label), Slug(label)};
  if ((flags & kHostLane) != 0) {
    return {
        fmt::format("{} ({})", name.empty() ? "Python" : name, Text(store_.tracks.pid[process])),
        "py"};
  }
  const std::string_view pid = Text(store_.tracks.pid[process]);
  const std::string_view shown = !name.empty() ? name : !label.empty() ? label : pid;
  if (shown.empty()) return {"Other", Slug(shown)};
  const bool is_number = name.empty() && label.empty();
  return {is_number ? fmt::format("Process {}", pid) : std::string(shown), Slug(shown)};
}

void TreeBuilder::AddProcess(size_t process) {
  std::vector<size_t> threads = children_[process];
  Order(threads);
  threads.insert(threads.begin(), process);  // a process may have slices of its own
  uint32_t flags = 0;
  size_t total = 0;
  for (const size_t t : threads) {
    const size_t here = slices_[t].size() + stacks_[t].size() + annotations_[t].size();
    total += here;
    if (here > 0) flags |= FlagsOf(kinds_[t]);
  }
  if (total == 0) return;
  has_overlap_ = has_overlap_ || (flags & kOverlapLane) != 0;
  const GroupName named = NameGroup(process, flags);
  const int64_t device = DeviceOf(Text(store_.tracks.label[process]), store_.info.device);
  Lane& group = Add(LaneKind::kGroup, 1, named.name, fmt::format("{}/{}", Root(), named.path));
  group.device = device;
  const uint32_t group_id = group.id;
  const std::string group_path = group.path;
  for (const size_t t : threads) AddThread(t, group_id, group_path, device);
}

void TreeBuilder::AddThread(size_t track, uint32_t group, const std::string& path, int64_t device) {
  const std::string tid(Text(store_.tracks.tid[track]));
  std::string name(Text(store_.tracks.name[track]));
  // Old GPU traces call their threads "stream 7" and have no other name for them.
  if (name.empty()) name = tid.empty() ? "events" : ParseInt64(tid) ? "Thread " + tid : tid;
  const auto add = [&](std::string lane_name, std::string slug, std::vector<uint32_t>& slices,
                       uint32_t flags) -> Lane* {
    if (slices.empty()) return nullptr;
    Lane& lane =
        Add(LaneKind::kSlices, group, std::move(lane_name), fmt::format("{}/{}", path, slug));
    lane.flags = flags;
    lane.device = device;
    lane.track = TrackId{static_cast<uint32_t>(track)};
    lane.count = slices.size();
    content_.back() = {columns_, std::move(slices)};
    return &lane;
  };
  const uint32_t flags = FlagsOf(kinds_[track]);
  out_.annotations_of_track_[track] =
      add(fmt::format("{} annotations", name), Slug(name) + "-annotations", annotations_[track],
          kAnnotationLane);
  // A stream of the host is a thread.
  const bool is_cpu_stream = is_cpu_ && (flags & kDeviceLane) != 0 && name.starts_with("Stream ");
  std::string lane_name = is_cpu_stream ? "Thread " + name.substr(7) : name;
  out_.lane_of_track_[track] = add(std::move(lane_name), Slug(name), slices_[track], flags);
  out_.stack_of_track_[track] = add(fmt::format("Python Stack {}", tid), "stack" + Slug(tid),
                                    stacks_[track], kHostLane | kPythonStackLane);
}

void TreeBuilder::BuildRows(size_t i) {
  if (out_.lanes_[i]->kind != LaneKind::kSlices) return;
  Lane& lane = *out_.lanes_[i];
  lane.rows = LaneRows(content_[i].columns, std::move(content_[i].slices));
  SetWorkApart(lane);
  lane.cover = LaneCover(lane.busy_rows());
}

// A stream that waits for an event does nothing, however long the task is.
void TreeBuilder::SetWorkApart(Lane& lane) const {
  if ((lane.flags & kDeviceLane) == 0 || lane.is_derived()) return;
  const auto is_wait = [&](uint32_t slice) {
    return is_wait_[static_cast<size_t>(store_.slices.name[slice])] ||
           is_wait_[static_cast<size_t>(store_.slices.category[slice])];
  };
  std::vector<uint32_t> work;
  for (size_t at = 0; at < lane.rows.size(); ++at) {
    if (!is_wait(lane.rows.slice_at(at))) work.push_back(lane.rows.slice_at(at));
  }
  lane.has_waits = work.size() < lane.rows.size();
  if (!lane.has_waits) return;
  lane.work = LaneRows(columns_, std::move(work));
  lane.whole = LaneCover(lane.rows);
}

// Groups show when any of their lanes was busy; the rank shows its device if it has one.
void TreeBuilder::Summarize() {
  auto& lanes = out_.lanes_;
  for (size_t i = lanes.size(); i-- > 1;) {
    Lane& parent = *lanes[lanes[i]->parent - 1];
    if ((lanes[i]->flags & kAsideLane) == 0) parent.count += lanes[i]->count;
    parent.flags |= lanes[i]->flags & ~uint32_t{kPythonStackLane | kDerivedLane | kAsideLane};
  }
  std::map<std::vector<const LaneRows*>, const Lane*> known;
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i]->kind != LaneKind::kGroup && lanes[i]->kind != LaneKind::kRank) continue;
    const std::vector<const Lane*> below = LanesBelow(i);
    std::vector<const LaneRows*> busy;
    std::vector<const LaneRows*> all;
    for (const Lane* lane : below) {
      busy.push_back(&lane->busy_rows());
      all.push_back(&lane->rows);
    }
    const auto [same, is_new] = known.emplace(busy, lanes[i].get());
    lanes[i]->summary = is_new ? Summary(busy) : same->second->summary;
    if (all == busy) continue;
    lanes[i]->with_waits = is_new ? Summary(std::move(all)) : same->second->with_waits;
  }
}

std::vector<const Lane*> TreeBuilder::LanesBelow(size_t top) const {
  const auto& lanes = out_.lanes_;
  const bool is_rank = lanes[top]->kind == LaneKind::kRank;
  const bool device_only = is_rank && (lanes[top]->flags & kDeviceLane) != 0;
  std::vector<const Lane*> out;
  for (size_t i = top; i < lanes.size(); ++i) {
    if (lanes[i]->kind != LaneKind::kSlices || !IsBelow(i, top)) continue;
    if (is_rank && (lanes[i]->flags & kOverlapLane) != 0) continue;
    if (device_only && (lanes[i]->flags & kDeviceLane) == 0) continue;
    if (lanes[i]->is_annotation()) continue;
    out.push_back(lanes[i].get());
  }
  return out;
}

bool TreeBuilder::IsBelow(size_t lane, size_t top) const {
  uint32_t id = out_.lanes_[lane]->id;
  while (id > top + 1) id = out_.lanes_[id - 1]->parent;
  return id == top + 1;
}

void BuildLaneTree(const TraceStore& store, ThreadPool& pool, RankTimeline& out) {
  TreeBuilder(store, pool, out).Build();
}

}  // namespace steplens::server
