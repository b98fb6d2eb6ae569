#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace steplens {

// Turns structs into bytes and back, for partial results that travel between processes or wait in
// the cache. A struct lists its members once:
//
//   struct Partial {
//     int64_t count = 0;
//     std::vector<std::string> names;
//     template <typename Archive>
//     void Fields(Archive& archive) { archive(count, names); }
//   };
//   std::string bytes = ToBytes(partial);
//   std::optional<Partial> again = FromBytes<Partial>(bytes);
//
// Integers are as long as they need to be, text has its length before it. A std::string_view is
// read as a view of the bytes. Bytes that do not follow the struct (damage, another version) give
// nothing, never a crash; nor does a number of an enum for which IsKnownValue(value) is false.
namespace archive_internal {

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename K, typename V>
struct IsMap<std::map<K, V>> : std::true_type {};
template <typename T>
struct IsPair : std::false_type {};
template <typename A, typename B>
struct IsPair<std::pair<A, B>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

}  // namespace archive_internal

class ArchiveWriter {
 public:
  template <typename... Values>
  void operator()(const Values&... values) {
    (Put(values), ...);
  }
  std::string Take() { return std::move(out_); }

 private:
  void PutCount(uint64_t value) {
    while (value >= 0x80) {
      out_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    out_ += static_cast<char>(value);
  }

  template <typename T>
  void Put(const T& value) {
    using namespace archive_internal;
    if constexpr (std::is_enum_v<T>) {
      Put(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
      PutCount(value);
    } else if constexpr (std::is_integral_v<T>) {
      const auto wide = static_cast<int64_t>(value);
      PutCount((static_cast<uint64_t>(wide) << 1) ^ static_cast<uint64_t>(wide >> 63));
    } else if constexpr (std::is_same_v<T, double>) {
      const auto bits = std::bit_cast<uint64_t>(value);
      out_.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
      PutCount(value.size());
      out_ += value;
    } else if constexpr (IsPair<T>::value) {
      Put(value.first);
      Put(value.second);
    } else if constexpr (IsOptional<T>::value) {
      Put(value.has_value());
      if (value) Put(*value);
    } else if constexpr (IsVector<T>::value || IsMap<T>::value) {
      PutCount(value.size());
      for (const auto& item : value) Put(item);
    } else {
      // Fields() serves both directions, so it is not const; writing changes nothing.
      const_cast<T&>(value).Fields(*this);
    }
  }

  std::string out_;
};

class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : rest_(bytes) {}
  template <typename... Values>
  void operator()(Values&... values) {
    (Get(values), ...);
  }
  // Whether every byte was there and used.
  bool Complete() const { return ok_ && rest_.empty(); }

 private:
  uint64_t GetCount() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }

  void Fail() {
    ok_ = false;
    rest_ = {};
  }

  // A number of items, each of at least one byte: damage cannot ask for more than is there.
  size_t GetSize() {
    const uint64_t size = GetCount();
    if (size <= rest_.size()) return static_cast<size_t>(size);
    Fail();
    return 0;
  }

  template <typename T>
  void Get(T& value) {
    using namespace archive_internal;
    if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      Get(number);
      value = static_cast<T>(number);
      if constexpr (requires { IsKnownValue(value); }) {
        if (!IsKnownValue(value)) Fail();
      }
    } else if constexpr (std::is_same_v<T, bool>) {
      value = GetCount() != 0;
    } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
      const uint64_t count = GetCount();
      value = static_cast<T>(count);
      if (value != count) Fail();
    } else if constexpr (std::is_integral_v<T>) {
      const uint64_t folded = GetCount();
      value = static_cast<T>(static_cast<int64_t>((folded >> 1) ^ (~(folded & 1) + 1)));
    } else if constexpr (std::is_same_v<T, double>) {
      uint64_t bits = 0;
      if (rest_.size() < sizeof bits) {
        Fail();
      } else {
        std::memcpy(&bits, rest_.data(), sizeof bits);
        rest_.remove_prefix(sizeof bits);
      }
      value = std::bit_cast<double>(bits);
    } else if constexpr (std::is_same_v<T, std::string>) {
      const size_t size = GetSize();
      value.assign(rest_.substr(0, size));
      rest_.remove_prefix(size);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      const size_t size = GetSize();
      value = rest_.substr(0, size);
      rest_.remove_prefix(size);
    } else if constexpr (IsPair<T>::value) {
      Get(value.first);
      Get(value.second);
    } else if constexpr (IsOptional<T>::value) {
      bool has_value = false;
      Get(has_value);
      if (has_value) Get(value.emplace());
    } else if constexpr (IsVector<T>::value) {
      const size_t size = GetSize();
      value.clear();
      value.reserve(size);
      for (size_t i = 0; i < size && ok_; ++i) {
        typename T::value_type item{};
        Get(item);
        value.push_back(std::move(item));
      }
    } else if constexpr (IsMap<T>::value) {
      const size_t size = GetSize();
      value.clear();
      for (size_t i = 0; i < size && ok_; ++i) {
        std::pair<typename T::key_type, typename T::mapped_type> item;
        Get(item);
        value.insert_or_assign(std::move(item.first), std::move(item.second));
      }
    } else {
      value.Fields(*this);
    }
  }

  std::string_view rest_;
  bool ok_ = true;
};

template <typename T>
std::string ToBytes(const T& value) {
  ArchiveWriter writer;
  writer(value);
  return writer.Take();
}

template <typename T>
std::optional<T> FromBytes(std::string_view bytes) {
  T value{};
  ArchiveReader reader(bytes);
  reader(value);
  if (!reader.Complete()) return std::nullopt;
  return value;
}

}  // namespace steplens
