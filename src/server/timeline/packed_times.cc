#include "server/timeline/packed_times.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

namespace steplens::server {

std::optional<PackedTimes> PackedTimes::Pack(std::span<const int64_t> begin_ns,
                                             std::span<const int64_t> dur_ns) {
  constexpr uint64_t kMostNs = std::numeric_limits<uint32_t>::max();
  PackedTimes out;
  out.base_ns_.reserve((begin_ns.size() + kStride - 1) / kStride);
  out.offset_ns_.reserve(begin_ns.size());
  out.dur_ns_.reserve(begin_ns.size());
  for (size_t i = 0; i < begin_ns.size(); ++i) {
    if (i % kStride == 0) out.base_ns_.push_back(begin_ns[i]);
    // Of times far apart the difference may not fit a signed number.
    const uint64_t offset_ns =
        static_cast<uint64_t>(begin_ns[i]) - static_cast<uint64_t>(out.base_ns_.back());
    if (offset_ns > kMostNs || static_cast<uint64_t>(dur_ns[i]) > kMostNs) return std::nullopt;
    out.offset_ns_.push_back(static_cast<uint32_t>(offset_ns));
    out.dur_ns_.push_back(static_cast<uint32_t>(dur_ns[i]));
  }
  return out;
}

size_t PackedTimes::bytes() const {
  return base_ns_.capacity() * sizeof(int64_t) +
         (offset_ns_.capacity() + dur_ns_.capacity()) * sizeof(uint32_t);
}

std::span<const uint32_t> Ascending(size_t count) {
  constexpr size_t kFirst = 1024;
  static std::mutex runs_mutex;
  static auto* const runs = new std::vector<std::unique_ptr<const std::vector<uint32_t>>>;
  const std::lock_guard lock(runs_mutex);
  if (runs->empty() || runs->back()->size() < count) {
    const size_t twice = runs->empty() ? kFirst : 2 * runs->back()->size();
    std::vector<uint32_t> longer(std::max(count, twice));
    std::iota(longer.begin(), longer.end(), uint32_t{0});
    runs->push_back(std::make_unique<const std::vector<uint32_t>>(std::move(longer)));
  }
  return *runs->back();
}

}  // namespace steplens::server
