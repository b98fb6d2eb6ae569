#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "export/text/digits.h"

namespace steplens::exporting {

// Text on its way to a file. Appending costs one comparison and a copy; nothing is allocated once
// the buffer is as large as a piece of the file. Numbers look as digits.h says. Not thread safe.
class TextBuffer {
 public:
  TextBuffer& operator+=(std::string_view text) {
    text.copy(Room(text.size()), text.size());
    size_ += text.size();
    return *this;
  }
  // Literals: their length is known when this is compiled.
  template <size_t kSize>
  TextBuffer& operator+=(const char (&literal)[kSize]) {
    std::memcpy(Room(kSize - 1), literal, kSize - 1);
    size_ += kSize - 1;
    return *this;
  }
  TextBuffer& operator+=(char c) {
    *Room(1) = c;
    ++size_;
    return *this;
  }

  void Uint(uint64_t value) {
    Put([&](char* at) { return PutUint(at, value); });
  }
  void Int(int64_t value) {
    Put([&](char* at) { return PutInt(at, value); });
  }
  void UsNumber(int64_t ns) {
    Put([&](char* at) { return PutUsNumber(at, ns); });
  }
  void Number(double value) {
    Put([&](char* at) { return PutNumber(at, value); });
  }
  // Without ".0" for whole numbers.
  void ShortNumber(double value) {
    Number(value);
    if (view().ends_with(".0")) size_ -= 2;
  }
  void JsonNumber(double value) {
    std::isfinite(value) ? ShortNumber(value) : void(*this += "null");
  }
  void BinaryFraction(int64_t value, unsigned shift) {
    Put([&](char* at) { return PutBinaryFraction(at, value, shift); });
  }
  // As PutUs. Neighbouring times share their seconds, whose digits are kept.
  void Us(int64_t ns) {
    Put([&](char* at) {
      constexpr int64_t kSecond = 1'000'000'000;
      if (ns < kSecond * kSecond) return PutUs(at, ns);
      const int64_t seconds = ns / kSecond;
      if (seconds != seconds_) {
        seconds_ = seconds;
        PutInt(seconds_text_, seconds);
      }
      std::memcpy(at, seconds_text_, kSecondsDigits);
      const auto rest = static_cast<uint64_t>(ns % kSecond);
      at = digits::PutThree(at + kSecondsDigits, rest / 1'000'000);
      at = digits::PutThree(at, rest / 1000 % 1000);
      *at++ = '.';
      return digits::PutThree(at, rest % 1000);
    });
  }

  size_t size() const { return size_; }
  std::string_view view() const { return {bytes_.get(), size_}; }
  void Clear() { size_ = 0; }
  void Reserve(size_t bytes) {
    if (bytes > capacity_) Grow(bytes - size_);
  }

 private:
  static constexpr size_t kSecondsDigits = 10;  // of times from 2001 to 2262

  char* Room(size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]]
      Grow(bytes);
    return bytes_.get() + size_;
  }
  template <typename Write>
  void Put(Write&& write) {
    char* const at = Room(kMaxNumberBytes);
    size_ += static_cast<size_t>(write(at) - at);
  }
  void Grow(size_t bytes) {
    capacity_ = std::max(size_ + bytes, 2 * capacity_);
    std::unique_ptr<char[]> larger(new char[capacity_]);  // not cleared
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
  }

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
  int64_t seconds_ = -1;  // whose digits are in seconds_text_
  char seconds_text_[kMaxNumberBytes];
};

}  // namespace steplens::exporting
