#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// What a slice is, by its category. Kineto renamed its categories twice; all spellings are known
// here.
enum class SliceKind : uint8_t {
  kOther,
  kHostOp,      // cpu_op, Operator
  kAnnotation,  // user_annotation
  kPython,      // python_function
  kEnqueue,
  kDequeue,
  kRuntime,  // cuda_runtime, Runtime: a call into the GPU runtime
  kDriver,   // cuda_driver
  kKernel,   // kernel, Kernel: GPU work; the category of an Ascend task is its task type
  kMemcpy,   // gpu_memcpy, Memcpy
  kMemset,   // gpu_memset, Memset
};

// SliceKind of each category text of one store. Texts are looked up once; a slice costs one array
// read.
class SliceKinds {
 public:
  explicit SliceKinds(const store::TraceStore& store);
  SliceKind operator[](StringId category) const {
    const auto i = static_cast<size_t>(category);
    return i < kinds_.size() ? kinds_[i] : SliceKind::kOther;
  }

 private:
  std::vector<SliceKind> kinds_;  // as long as the highest category id
};

inline bool IsGpuWork(SliceKind kind) {
  return kind == SliceKind::kKernel || kind == SliceKind::kMemcpy || kind == SliceKind::kMemset;
}
inline bool IsGpuApi(SliceKind kind) {
  return kind == SliceKind::kRuntime || kind == SliceKind::kDriver;
}

enum class TrackKind : uint8_t {
  kOther,
  kHost,       // threads of the Python process
  kCann,       // threads of CANN
  kDevice,     // streams: Ascend Hardware, or any track that holds GPU work
  kCommGroup,  // the collectives of one group
  kCommPlane,  // their tasks on one plane
  kOverlap,    // Overlap Analysis: the reference's own result
};

// Kind of each track, by the name of its process (pids differ between generations) or, where no
// process is one of Ascend's, by what runs on it. O(tracks), for GPU traces O(tracks + slices).
std::vector<TrackKind> ClassifyTracks(const store::TraceStore& store);

// What kind of capture a rank is.
enum class Platform : uint8_t {
  kAscend,
  kGpu,       // Kineto with device events
  kHostOnly,  // no device event at all
};
// `tracks` is what ClassifyTracks returned. O(tracks).
Platform DetectPlatform(const store::TraceStore& store, const std::vector<TrackKind>& tracks);

// NCCL and RCCL kernels: ncclDevKernel_AllReduce..., ncclKernel_..., any case.
bool IsCommunicationKernel(std::string_view name);

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
