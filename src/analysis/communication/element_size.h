#pragma once

#include <cstdint>
#include <string_view>

namespace steplens::analysis {

// Bytes of one element, by the name HCCL ("BFP16"), NCCL ("BFloat16"), PyTorch's operators
// ("c10::BFloat16") or Ascend's kernels ("DT_BF16") give its type; none for types that have no
// fixed size.
int64_t ElementSize(std::string_view data_type);

// Bytes of the data of a collective; none if its type or its count is not known, or absurd.
int64_t DataSize(int64_t count, std::string_view data_type);

}  // namespace steplens::analysis
