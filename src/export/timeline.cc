#include "export/timeline.h"

#include <algorithm>
#include <tuple>

#include "analysis/classify/collective_kernels.h"
#include "analysis/facts/kernel_slices.h"
#include "base/number.h"

namespace steplens::exporting {
namespace {

using analysis::TrackKind;
using store::kNoId;
using store::kNone;
using store::TraceStore;

// "NPU 3" -> 3
int64_t DeviceOfLabel(std::string_view label) {
  const size_t blank = label.find(' ');
  if (blank == label.npos) return kNone;
  return ParseInt64(label.substr(blank + 1)).value_or(kNone);
}

size_t ProcessOf(const TraceStore& store, size_t track) {
  const store::TrackId parent = store.tracks.parent[track];
  return parent == store::kNoTrack ? track : static_cast<size_t>(parent);
}

// The device of the rank where its processes do not say it.
int64_t DeviceOfRank(const TraceStore& store) {
  if (store.info.device != kNone) return store.info.device;
  const auto& devices = store.kernels.device;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] != kNone) return devices[i];
  }
  for (const StringId device : store.memory_samples.device) {
    const std::string_view text = store.Text(device);  // "NPU:0"
    const size_t colon = text.find(':');
    if (colon != text.npos) return ParseInt64(text.substr(colon + 1)).value_or(0);
  }
  return 0;
}

// The pid of the framework's process, or what the pids of the exporter's processes were made of.
int64_t FindOsPid(const TraceStore& store, const std::vector<TrackFacts>& tracks) {
  constexpr int kExporterBits = 10;
  int64_t made_of = 0;
  for (size_t i = 0; i < tracks.size(); ++i) {
    const auto pid = ParseInt64(store.Text(store.tracks.pid[i]));
    if (!pid || *pid < 0) continue;
    if (tracks[i].kind == TrackKind::kHost || tracks[i].process == "Python") return *pid;
    if (tracks[i].kind != TrackKind::kOther) made_of = *pid >> kExporterBits;
  }
  return made_of;
}

}  // namespace

Timeline::Timeline(const TraceStore& store)
    : kinds(analysis::ClassifyTracks(store)), platform(analysis::DetectPlatform(store, kinds)) {
  device = DeviceOfRank(store);
  tracks.resize(store.tracks.size());
  for (size_t i = 0; i < tracks.size(); ++i) {
    const size_t process = ProcessOf(store, i);
    TrackFacts& track = tracks[i];
    track.kind = kinds[i];
    if (process < tracks.size()) {
      track.process = store.Text(store.tracks.name[process]);
      track.device = DeviceOfLabel(store.Text(store.tracks.label[process]));
    }
    if (track.device == kNone) track.device = device;
    track.tid = ParseInt64(store.Text(store.tracks.tid[i])).value_or(0);
    is_hccl_era = is_hccl_era || track.process == "HCCL";
    has_overlap = has_overlap || track.kind == TrackKind::kOverlap;
  }
  os_pid = FindOsPid(store, tracks);
}

DeviceIndex::DeviceIndex(const TraceStore& store, const Timeline& timeline) {
  const auto& track = store.slices.track;
  const analysis::SliceKinds slice_kinds(store);
  const bool is_gpu = timeline.platform == analysis::Platform::kGpu;
  for (size_t i = 0, rows = track.size(); i < rows; ++i) {
    if (timeline.of(track[i]).kind != TrackKind::kDevice) continue;
    // The streams of a GPU trace also hold annotations.
    if (is_gpu && !analysis::IsGpuWork(slice_kinds[store.slices.category[i]])) continue;
    slices.push_back(static_cast<uint32_t>(i));
  }
  kernel_of.assign(slices.size(), kNoId);
  comm_task_of.assign(slices.size(), kNoId);
  MatchKernels(store, timeline);
  if (store.comm_tasks.size() > 0) MatchCommTasks(store, timeline);
}

void DeviceIndex::MatchKernels(const TraceStore& store, const Timeline& timeline) {
  analysis::CollectiveKernels is_collective(store, timeline.platform);
  const analysis::KernelSlices match =
      analysis::MatchKernelSlices(store, timeline.kinds, timeline.platform);
  for (uint32_t row = 0; row < store.kernels.size(); ++row) {
    if (!is_collective(row) && match.slice_of()[row] == store::kNoSlice)
      lone_kernels.push_back(row);
  }
  size_t place = 0;
  for (const uint32_t row : match.by_slice()) {
    if (is_collective(row)) continue;
    while (store::SliceId{slices[place]} != match.slice_of()[row]) ++place;
    kernel_of[place] = row;
  }
}

namespace {

// Gives rows of another table to the device slices they are about, each slice once.
class SliceClaims {
 public:
  // what(slice): what a row must agree in beside the start.
  template <typename What>
  SliceClaims(const TraceStore& store, const std::vector<uint32_t>& slices, const What& what,
              std::vector<uint32_t>& owners)
      : owners_(owners) {
    keys_.reserve(slices.size());
    for (uint32_t place = 0; place < slices.size(); ++place) {
      const uint32_t slice = slices[place];
      keys_.push_back({store.slices.begin_ns[slice], what(slice), place});
    }
    std::sort(keys_.begin(), keys_.end());
  }

  // Takes the first free slice of that start; false if there is none.
  bool Claim(int64_t begin_ns, int64_t what, uint32_t row) {
    auto key = std::lower_bound(keys_.begin(), keys_.end(), Key(begin_ns, what, 0));
    while (key != keys_.end() && std::get<0>(*key) == begin_ns && std::get<1>(*key) == what) {
      uint32_t& owner = owners_[std::get<2>(*key)];
      if (owner == kNoId) {
        owner = row;
        return true;
      }
      ++key;
    }
    return false;
  }

 private:
  using Key = std::tuple<int64_t, int64_t, uint32_t>;  // start, name or stream, place
  std::vector<Key> keys_;
  std::vector<uint32_t>& owners_;
};

}  // namespace

void DeviceIndex::MatchCommTasks(const TraceStore& store, const Timeline& timeline) {
  const auto stream_of = [&](uint32_t slice) { return timeline.of(store.slices.track[slice]).tid; };
  SliceClaims claims(store, slices, stream_of, comm_task_of);
  for (uint32_t row = 0; row < store.comm_tasks.size(); ++row) {
    if (!claims.Claim(store.comm_tasks.begin_ns[row], store.comm_tasks.stream[row], row))
      lone_comm_tasks.push_back(row);
  }
}

}  // namespace steplens::exporting
