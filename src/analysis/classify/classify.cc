#include "analysis/classify/classify.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/number.h"

namespace steplens::analysis {
namespace {

using store::TraceStore;

constexpr std::string_view kAscendHardware = "Ascend Hardware";

TrackKind KindOfThread(std::string_view process_name, std::string_view thread_name) {
  if (process_name == "Python") return TrackKind::kHost;
  if (process_name == "CANN") return TrackKind::kCann;
  if (process_name == kAscendHardware) {
    // Iterations of a whole graph, and their parts: marks around the tasks of the streams.
    const bool is_step_trace = thread_name.starts_with("Step Trace");
    return is_step_trace ? TrackKind::kOther : TrackKind::kDevice;
  }
  if (process_name == "Overlap Analysis") return TrackKind::kOverlap;
  if (process_name == "HCCL" || process_name == "Communication") {
    const bool is_group = thread_name.find("Communication") != std::string_view::npos;
    return is_group ? TrackKind::kCommGroup : TrackKind::kCommPlane;
  }
  return TrackKind::kOther;
}

// Kinds that only the exporter of an Ascend capture writes.
bool IsAscendKind(TrackKind kind) {
  return kind == TrackKind::kDevice || kind == TrackKind::kCommGroup ||
         kind == TrackKind::kCommPlane || kind == TrackKind::kOverlap;
}

// "GPU 0", "MTIA 1": Kineto labels the process of each device so, and that of the host "CPU".
bool IsDeviceLabel(std::string_view label) {
  const size_t space = label.rfind(' ');
  return space != std::string_view::npos && space > 0 && !label.starts_with("CPU") &&
         ParseInt64(label.substr(space + 1)).has_value();
}

bool LooksLikeDevice(const TraceStore& store, size_t track) {
  const store::TrackTable& tracks = store.tracks;
  if (tracks.device[track] != store::kNone) return true;
  if (store.Text(tracks.name[track]).starts_with("stream ")) return true;
  const auto process = static_cast<size_t>(tracks.parent[track]);
  return process < tracks.size() && IsDeviceLabel(store.Text(tracks.label[process]));
}

// What only the host does.
bool IsHostKind(SliceKind kind) {
  return kind == SliceKind::kHostOp || kind == SliceKind::kAnnotation ||
         kind == SliceKind::kPython || kind == SliceKind::kEnqueue || kind == SliceKind::kDequeue ||
         IsGpuApi(kind);
}

// Judges the tracks of a trace that no process of Ascend's is in by what runs on them.
class TracksByWork {
 public:
  TracksByWork(const TraceStore& store, std::vector<TrackKind>& kinds)
      : store_(store), kinds_(kinds), hints_(kinds.size(), Hint::kNone) {}

  void Judge() {
    const SliceKinds slice_kinds(store_);
    const auto& category = store_.slices.category;
    const auto& track = store_.slices.track;
    for (size_t i = 0, rows = category.size(); i < rows; ++i) {
      const auto t = static_cast<size_t>(track[i]);
      if (t < kinds_.size() && kinds_[t] == TrackKind::kOther) Take(t, slice_kinds[category[i]]);
    }
    const auto is_device = [](TrackKind kind) { return kind == TrackKind::kDevice; };
    if (std::any_of(kinds_.begin(), kinds_.end(), is_device)) return;
    for (size_t t = 0; t < kinds_.size(); ++t) {
      const bool has_work = hints_[t] != Hint::kNone && kinds_[t] == TrackKind::kOther;
      if (has_work && (hints_[t] == Hint::kDevice || LooksLikeDevice(store_, t)))
        kinds_[t] = TrackKind::kUnknownDevice;
    }
  }

 private:
  enum class Hint : uint8_t { kNone, kUnknownWork, kDevice };

  void Take(size_t t, SliceKind kind) {
    if (IsGpuWork(kind)) {
      kinds_[t] = TrackKind::kDevice;
    } else if (kind == SliceKind::kHostOp) {
      kinds_[t] = TrackKind::kHost;
    } else if (kind == SliceKind::kCollective) {
      if (LooksLikeDevice(store_, t)) kinds_[t] = TrackKind::kDevice;
    } else if (kind == SliceKind::kDeviceCounters) {
      hints_[t] = Hint::kDevice;
    } else if (!IsHostKind(kind) && hints_[t] == Hint::kNone) {
      hints_[t] = Hint::kUnknownWork;
    }
  }

  const TraceStore& store_;
  std::vector<TrackKind>& kinds_;  // of the caller, for one call
  std::vector<Hint> hints_;        // what else a track held
};

}  // namespace

std::vector<TrackKind> ClassifyTracks(const TraceStore& store) {
  const store::TrackTable& tracks = store.tracks;
  std::vector<TrackKind> kinds(tracks.size(), TrackKind::kOther);
  for (size_t t = 0; t < tracks.size(); ++t) {
    const auto process = static_cast<size_t>(tracks.parent[t]);
    if (process >= tracks.size()) continue;
    kinds[t] = KindOfThread(store.Text(tracks.name[process]), store.Text(tracks.name[t]));
  }
  if (std::any_of(kinds.begin(), kinds.end(), IsAscendKind)) return kinds;

  TracksByWork(store, kinds).Judge();
  return kinds;
}

Platform DetectPlatform(const TraceStore& store, const std::vector<TrackKind>& tracks) {
  const auto device = std::find(tracks.begin(), tracks.end(), TrackKind::kDevice);
  if (device != tracks.end()) {
    const auto t = static_cast<size_t>(device - tracks.begin());
    const auto process = static_cast<size_t>(store.tracks.parent[t]);
    const bool is_ascend =
        process < store.tracks.size() && store.Text(store.tracks.name[process]) == kAscendHardware;
    return is_ascend ? Platform::kAscend : Platform::kGpu;
  }
  const bool has_ascend = std::any_of(tracks.begin(), tracks.end(), IsAscendKind);
  if (has_ascend || store.kernels.size() > 0) return Platform::kAscend;
  const bool has_unknown =
      std::find(tracks.begin(), tracks.end(), TrackKind::kUnknownDevice) != tracks.end();
  return has_unknown ? Platform::kUnknownDevice : Platform::kHostOnly;
}

bool IsCommunicationCore(std::string_view core) {
  return core == "HCCL" || core == "COMMUNICATION";
}

std::optional<CannApi> ParseCannApi(std::string_view slice_name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kLayers{{
      {"AscendCL", "acl"},
      {"Node", "node"},
      {"Runtime", "runtime"},
      {"Model", "model"},
      {"Hccl", "hccl"},
      {"Communication", "communication"},
  }};
  const size_t at = slice_name.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  for (const auto& [layer, level] : kLayers) {
    if (slice_name.substr(0, at) == layer) return CannApi{level, slice_name.substr(at + 1)};
  }
  return std::nullopt;
}

bool IsTaskKindName(std::string_view name) {
  constexpr std::array<std::string_view, 8> kMixedCase{
      "Notify Wait",   "Notify Record", "Write Value",   "Notify_Wait",
      "Notify_Record", "Memcpy",        "Reduce_Inline", "RDMASend"};
  if (std::find(kMixedCase.begin(), kMixedCase.end(), name) != kMixedCase.end()) return true;
  return std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace steplens::analysis
