#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/compare/overall.h"

namespace steplens::analysis::compare {

// The kinds of work that have no name in common on two devices, but a purpose.
enum class KernelClass : uint8_t {
  kAttentionForward,
  kAttentionBackward,
  kConvForward,
  kConvBackward,
  kMatmul,
  kPagedAttention,
  kVectorTrans,
  kVectorOther,
  kCube,
  kTensorMove,
  kFused,  // computes and communicates
};
// "attention_forward", ...: how the catalogue's keys below compare.class end.
std::string_view ClassName(KernelClass kind);

struct ClassedKernel {
  KernelClass kind = KernelClass::kVectorOther;
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
};

// Divides the kernels of a side among the kinds of work: by the operator that launched them, else
// by their type or name. `works`, if given, gets each kernel with its kind.
void ClassifyKernels(const Side& side, const SheetOptions& options, Overall& overall,
                     std::vector<ClassedKernel>* works = nullptr);

// Copies of the host's or the device's memory that GPU traces name: they are no computing.
bool IsGpuCopyName(std::string_view lower);

}  // namespace steplens::analysis::compare
