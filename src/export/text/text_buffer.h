#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "export/text/digits.h"
#include "export/text/padded_texts.h"

namespace steplens::exporting {

// As PutUs. Neighbouring times share their milliseconds, whose digits are kept.
class TimeDigits {
 public:
  char* Put(char* at, int64_t ns) {
    constexpr int64_t kMs = 1'000'000;
    constexpr int64_t kFirst = 1'000'000'000 * kMs * 1000;  // in 2001: ten digits of seconds
    if (ns < kFirst) return PutUs(at, ns);
    const int64_t ms = ns / kMs;
    if (ms != ms_) {
      ms_ = ms;
      PutInt(text_, ms);
    }
    std::memcpy(at, text_, sizeof(text_));
    const auto rest = static_cast<uint32_t>(ns - ms * kMs);
    at = digits::PutThree(at + kDigits, rest / 1000);
    *at++ = '.';
    return digits::PutThree(at, rest % 1000);
  }

 private:
  static constexpr size_t kDigits = 13;  // of milliseconds from 2001 to 2262
  int64_t ms_ = -1;                      // whose digits are in text_
  char text_[kMaxNumberBytes - 32] = {};
};

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
  void Us(int64_t ns) {
    Put([&](char* at) { return times_.Put(at, ns); });
  }

  size_t size() const { return size_; }
  std::string_view view() const { return {bytes_.get(), size_}; }
  void Clear() { size_ = 0; }
  void RemoveLast() { --size_; }  // a character of what was appended since Clear
  void Reserve(size_t bytes) {
    if (bytes > capacity_) Grow(bytes - size_);
  }

 private:
  friend class Pen;

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
  TimeDigits times_;
};

// A run of appends of bounded size, which costs one comparison for all of them. Nothing else may be
// appended to the buffer before the pen is gone.
class Pen {
 public:
  // `bytes`: at least what is written, with kMaxNumberBytes for every number; beside that there is
  // room for literals of kLiterals bytes together.
  Pen(TextBuffer& out, size_t bytes) : out_(out), at_(out.Room(bytes + kLiterals + kPadding)) {}
  ~Pen() { out_.size_ = static_cast<size_t>(at_ - out_.bytes_.get()); }
  Pen(const Pen&) = delete;
  Pen& operator=(const Pen&) = delete;

  template <size_t kSize>
  Pen& operator+=(const char (&literal)[kSize]) {
    std::memcpy(at_, literal, kSize - 1);
    at_ += kSize - 1;
    return *this;
  }
  Pen& operator+=(PaddedView text) {
    at_ = PutPadded(at_, text);
    return *this;
  }
  Pen& Int(int64_t value) {
    at_ = PutInt(at_, value);
    return *this;
  }
  Pen& Uint(uint64_t value) {
    at_ = PutUint(at_, value);
    return *this;
  }
  Pen& Us(int64_t ns) {
    at_ = out_.times_.Put(at_, ns);
    return *this;
  }
  Pen& UsNumber(int64_t ns) {
    at_ = PutUsNumber(at_, ns);
    return *this;
  }

 private:
  static constexpr size_t kLiterals = 256;
  TextBuffer& out_;
  char* at_;
};

}  // namespace steplens::exporting
