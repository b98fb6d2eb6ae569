#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "base/string_pool.h"

namespace steplens::store {

inline constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
inline constexpr uint32_t kNoId = std::numeric_limits<uint32_t>::max();

enum class TrackId : uint32_t {};
enum class SliceId : uint32_t {};
inline constexpr TrackId kNoTrack{kNoId};
inline constexpr SliceId kNoSlice{kNoId};

// The "not known" value of a column type, which a default Row holds.
template <typename T>
constexpr T NotKnown() {
  if constexpr (std::is_same_v<T, int64_t>) return kNone;
  if constexpr (std::is_same_v<T, uint32_t>) return 0;
  if constexpr (std::is_same_v<T, double>) return std::numeric_limits<double>::quiet_NaN();
  if constexpr (std::is_same_v<T, StringId>) return StringId::kEmpty;
  if constexpr (std::is_same_v<T, TrackId>) return kNoTrack;
  if constexpr (std::is_same_v<T, SliceId>) return kNoSlice;
}

// Zeros that take addresses and no memory: all of them are the one page of zeros that the system
// has for reading. At least `bytes`, valid until the process ends. For any thread.
std::span<const std::byte> Zeros(size_t bytes);

// Values that are not known, an array that all columns of a type share which hold nothing else.
// Arrays stay until the process ends: there may be views of the shorter ones. For any thread.
template <typename T>
class UnknownRun {
 public:
  // At least `rows` of them.
  static std::span<const T> Of(size_t rows) {
    if constexpr (std::is_same_v<T, uint32_t> || std::is_same_v<T, StringId>) {
      const std::span<const std::byte> zeros = Zeros(rows * sizeof(T));
      return {reinterpret_cast<const T*>(zeros.data()), zeros.size() / sizeof(T)};
    } else {
      static std::mutex mutex;
      static auto* const runs = new std::vector<std::unique_ptr<const std::vector<T>>>;
      const std::lock_guard lock(mutex);
      if (runs->empty() || runs->back()->size() < rows) {
        const size_t twice = runs->empty() ? kFirst : 2 * runs->back()->size();
        runs->push_back(
            std::make_unique<const std::vector<T>>(std::max(rows, twice), NotKnown<T>()));
      }
      return *runs->back();
    }
  }

 private:
  static constexpr size_t kFirst = 1024;
};

}  // namespace steplens::store
