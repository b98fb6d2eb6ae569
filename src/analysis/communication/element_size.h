#pragma once

#include <cstdint>
#include <string_view>

namespace steplens::analysis {

// Bytes of one element of a collective, by the name HCCL ("BFP16") or NCCL ("BFloat16") gives its
// type; none for types that have no fixed size.
int64_t ElementSize(std::string_view data_type);

// Bytes of the data of a collective; none if its type or its count is not known, or absurd.
int64_t DataSize(int64_t count, std::string_view data_type);

}  // namespace steplens::analysis
