#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace steplens {

// One line of at most `width` columns that says how far a job is:
//
//   reading [==========          ]  48%  228 MB/s  2 s left
//
// The bar gives way first, then the title. Without a total there is no bar: "reading 12 MB  3
// MB/s".
std::string FormatProgress(std::string_view title, uint64_t done_bytes, uint64_t total_bytes,
                           double seconds, size_t width);

}  // namespace steplens
