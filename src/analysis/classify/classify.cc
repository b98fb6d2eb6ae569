#include "analysis/classify/classify.h"

#include <algorithm>
#include <array>
#include <utility>

namespace steplens::analysis {
namespace {

using store::TraceStore;

constexpr std::array<std::pair<std::string_view, SliceKind>, 15> kCategories{{
    {"cpu_op", SliceKind::kHostOp},
    {"Operator", SliceKind::kHostOp},
    {"user_annotation", SliceKind::kAnnotation},
    {"python_function", SliceKind::kPython},
    {"enqueue", SliceKind::kEnqueue},
    {"dequeue", SliceKind::kDequeue},
    {"cuda_runtime", SliceKind::kRuntime},
    {"Runtime", SliceKind::kRuntime},
    {"cuda_driver", SliceKind::kDriver},
    {"kernel", SliceKind::kKernel},
    {"Kernel", SliceKind::kKernel},
    {"gpu_memcpy", SliceKind::kMemcpy},
    {"Memcpy", SliceKind::kMemcpy},
    {"gpu_memset", SliceKind::kMemset},
    {"Memset", SliceKind::kMemset},
}};

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

}  // namespace

SliceKinds::SliceKinds(const TraceStore& store) {
  for (const auto& [text, kind] : kCategories) {
    const auto id = store.strings.Find(text);
    if (!id) continue;
    const auto i = static_cast<size_t>(*id);
    if (i >= kinds_.size()) kinds_.resize(i + 1, SliceKind::kOther);
    kinds_[i] = kind;
  }
}

std::vector<TrackKind> ClassifyTracks(const TraceStore& store) {
  const store::TrackTable& tracks = store.tracks;
  std::vector<TrackKind> kinds(tracks.size(), TrackKind::kOther);
  for (size_t t = 0; t < tracks.size(); ++t) {
    const auto process = static_cast<size_t>(tracks.parent[t]);
    if (process >= tracks.size()) continue;
    kinds[t] = KindOfThread(store.Text(tracks.name[process]), store.Text(tracks.name[t]));
  }
  if (std::any_of(kinds.begin(), kinds.end(), IsAscendKind)) return kinds;

  const SliceKinds slice_kinds(store);
  const auto& category = store.slices.category;
  const auto& track = store.slices.track;
  for (size_t i = 0, rows = category.size(); i < rows; ++i) {
    const auto t = static_cast<size_t>(track[i]);
    if (t >= kinds.size() || kinds[t] != TrackKind::kOther) continue;
    const SliceKind kind = slice_kinds[category[i]];
    if (IsGpuWork(kind)) kinds[t] = TrackKind::kDevice;
    if (kind == SliceKind::kHostOp) kinds[t] = TrackKind::kHost;
  }
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
  return has_ascend || store.kernels.size() > 0 ? Platform::kAscend : Platform::kHostOnly;
}

bool IsCommunicationKernel(std::string_view name) {
  constexpr std::string_view kPrefix = "nccl";
  return name.size() >= kPrefix.size() &&
         std::equal(kPrefix.begin(), kPrefix.end(), name.begin(),
                    [](char want, char got) { return want == (got | 0x20); });
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
