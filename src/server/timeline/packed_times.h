#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace steplens::server {

// Begins and durations of slices in order of their begins, in 8 bytes each instead of 16: whole
// begins of every kStride-th slice, offsets from them for all. Immutable; for any number of
// threads.
class PackedTimes {
 public:
  // Both lists are as long as each other, begins ascend, no duration is negative. Nothing if a
  // duration, or kStride neighbours together, take 2^32 ns (4.3 s) or longer.
  static std::optional<PackedTimes> Pack(std::span<const int64_t> begin_ns,
                                         std::span<const int64_t> dur_ns);

  int64_t begin(size_t i) const { return base_ns_[i / kStride] + offset_ns_[i]; }
  int64_t dur(size_t i) const { return dur_ns_[i]; }
  size_t bytes() const;

 private:
  static constexpr size_t kStride = 64;
  std::vector<int64_t> base_ns_;  // by i / kStride
  std::vector<uint32_t> offset_ns_;
  std::vector<uint32_t> dur_ns_;
};

// 0, 1, 2, ...: at least `count` numbers that all who ask share. Arrays stay until the process
// ends: there may be views of the shorter ones. For any thread.
std::span<const uint32_t> Ascending(size_t count);

}  // namespace steplens::server
