#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "store/slice_kind.h"
#include "store/trace_store.h"

namespace steplens::analysis {

using store::IsCommunicationKernel;
using store::SliceKind;

// SliceKind of each category text of one store. A text is judged once; after that a slice costs one
// array read. May be asked by several threads at once.
class SliceKinds {
 public:
  // The store must outlive this.
  explicit SliceKinds(const store::TraceStore& store)
      : store_(&store), kinds_(store.strings.size(), kUnset) {}

  SliceKind operator[](StringId category) const {
    const auto i = static_cast<size_t>(category);
    if (i >= kinds_.size()) return store::KindOfCategory(store_->Text(category));
    const std::atomic_ref<uint8_t> known(kinds_[i]);
    uint8_t kind = known.load(std::memory_order_relaxed);
    if (kind == kUnset) {
      // Another thread that does the same writes the same.
      kind = static_cast<uint8_t>(store::KindOfCategory(store_->Text(category)));
      known.store(kind, std::memory_order_relaxed);
    }
    return static_cast<SliceKind>(kind);
  }

 private:
  static constexpr uint8_t kUnset = 0xFF;
  const store::TraceStore* store_;
  mutable std::vector<uint8_t> kinds_;  // by text
};

inline bool IsGpuWork(SliceKind kind) {
  return kind == SliceKind::kKernel || kind == SliceKind::kMemcpy || kind == SliceKind::kMemset;
}
inline bool IsGpuApi(SliceKind kind) {
  return kind == SliceKind::kRuntime || kind == SliceKind::kDriver;
}

enum class TrackKind : uint8_t {
  kOther,
  kHost,           // threads of the Python process
  kCann,           // threads of CANN
  kDevice,         // streams: Ascend Hardware, or any track that holds work of a Kineto back end
  kCommGroup,      // the collectives of one group
  kCommPlane,      // their tasks on one plane
  kOverlap,        // Overlap Analysis: the reference's own result
  kUnknownDevice,  // tracks of a device whose work has categories that nobody knows
};

// Kind of each track, by the name of its process (pids differ between generations) or, where no
// process is one of Ascend's, by what runs on it. Tracks are of an unknown device if no track holds
// device work, and their names, labels or events speak of a device. O(tracks), for GPU traces
// O(tracks + slices).
std::vector<TrackKind> ClassifyTracks(const store::TraceStore& store);

// What kind of capture a rank is.
enum class Platform : uint8_t {
  kAscend,
  kGpu,            // Kineto with device events, of any back end
  kUnknownDevice,  // a device, but nothing that says how long it worked
  kHostOnly,       // no device event at all
};
// `tracks` is what ClassifyTracks returned. O(tracks).
Platform DetectPlatform(const store::TraceStore& store, const std::vector<TrackKind>& tracks);

// Accelerator Core of a whole collective in kernel_details: HCCL, later COMMUNICATION.
bool IsCommunicationCore(std::string_view core);

// Level of a CANN slice by the layer before the '@' ("Node@launch" is {node, launch}); nothing for
// other names.
struct CannApi {
  std::string_view level;  // acl, node, runtime, model, hccl, communication
  std::string_view name;
};
std::optional<CannApi> ParseCannApi(std::string_view slice_name);

// A name on an Ascend Hardware stream that says what the task does to the stream (MEMCPY_ASYNC,
// EVENT_WAIT, Notify Wait, ...) and not which operator it computes.
bool IsTaskKindName(std::string_view name);

}  // namespace steplens::analysis
