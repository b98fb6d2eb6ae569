#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/trace_store.h"

namespace steplens::analysis {

// Where a kernel stands in the tree below Computing Time.
enum class KernelClass : uint8_t {
  kNone,  // a collective, the device side of one, or one whose units were not measured
  kPagedAttention,
  kTensorMove,
  kFlashAttention,
  kConv,
  kMatmul,
  kOtherCube,
  kOtherVector,
  kOther,  // GPU: anything else
};
struct KernelPath {
  KernelClass kind = KernelClass::kNone;
  bool is_backward = false;
  bool is_cube = false;
  bool is_trans = false;   // of other vector kernels: casts and layout changes
  bool knows_unit = true;  // false on GPUs: no cube and vector units, no last level
  bool operator==(const KernelPath&) const = default;
  // "Conv", "Forward", "Cube"; empty for kNone.
  std::vector<std::string_view> Levels() const;
};

struct KernelPaths {
  std::vector<KernelPath> of_kernel;  // parallel to store.kernels; empty if not known
  bool is_known = false;  // false: an Ascend capture without the times of cube and vector units
};

// The rules of the reference viewer (docs/metrics.md, overall), first one that applies; on GPUs the
// same by launching operator, then by kernel name. O(n log n).
KernelPaths ClassifyKernels(const store::TraceStore& store);

// "Computing Time > Conv > Forward": levels in one text, as tables and arguments have them.
std::string JoinPath(const std::vector<std::string_view>& levels);

}  // namespace steplens::analysis
