#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace steplens::format {

// All on-disk integers are little endian, and so is every machine this runs on.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

using Bytes = std::span<const uint8_t>;

// The number at `offset` of `bytes`; the caller has checked that it lies inside.
template <typename T>
T Load(Bytes bytes, size_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
void Store(uint8_t* out, size_t offset, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(out + offset, &value, sizeof(T));
}

inline std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline Bytes AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Makes room for `size` bytes at the end of `out` and returns where they are. Valid until `out`
// changes.
inline uint8_t* Extend(std::vector<uint8_t>& out, size_t size) {
  const size_t end = out.size();
  out.resize(end + size);
  return out.data() + end;
}

}  // namespace steplens::format
