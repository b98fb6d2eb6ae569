#pragma once

#include <cassert>
#include <compare>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "store/unknown.h"

namespace steplens::store {

// A number of a column that may lack it (kNone). It can be copied, compared and shown, but not
// computed with: +, -, *, /, %, sums that saturate and conversions to floating point do not compile
// until somebody has asked whether it is known.
//
//   if (kernels.dur_ns[i].is_known()) sum_ns = AddNs(sum_ns, kernels.dur_ns[i].value());
//
// What is not known compares as less than any number.
class MaybeInt {
 public:
  explicit constexpr MaybeInt(int64_t value) : value_(value) {}

  constexpr bool is_known() const { return value_ != kNone; }
  constexpr int64_t value() const {  // which is known
    assert(is_known());
    return value_;
  }
  constexpr int64_t value_or(int64_t otherwise) const { return is_known() ? value_ : otherwise; }

  // As columns store it, kNone included.
  constexpr operator int64_t() const { return value_; }  // NOLINT(google-explicit-constructor)
  template <typename T>
    requires(std::is_arithmetic_v<T> && !(std::integral<T> && sizeof(T) == sizeof(int64_t)))
  constexpr operator T() const = delete;  // NOLINT(google-explicit-constructor)

  friend constexpr bool operator==(MaybeInt a, MaybeInt b) { return a.value_ == b.value_; }
  friend constexpr auto operator<=>(MaybeInt a, MaybeInt b) { return a.value_ <=> b.value_; }
  template <std::integral T>
  friend constexpr bool operator==(MaybeInt a, T b) {
    return a.value_ == static_cast<int64_t>(b);
  }
  template <std::integral T>
  friend constexpr auto operator<=>(MaybeInt a, T b) {
    return a.value_ <=> static_cast<int64_t>(b);
  }
  // Some of the bits, for keys.
  template <std::integral T>
  friend constexpr int64_t operator&(MaybeInt a, T bits) {
    return a.value_ & static_cast<int64_t>(bits);
  }

 private:
  int64_t value_;
};

template <typename T>
concept IsMaybe = std::same_as<std::remove_cvref_t<T>, MaybeInt>;
template <typename A, typename B>
concept HasMaybe = IsMaybe<A> || IsMaybe<B>;

template <typename A, typename B>
  requires HasMaybe<A, B>
void operator+(const A&, const B&) = delete;
template <typename A, typename B>
  requires HasMaybe<A, B>
void operator-(const A&, const B&) = delete;
template <typename A, typename B>
  requires HasMaybe<A, B>
void operator*(const A&, const B&) = delete;
template <typename A, typename B>
  requires HasMaybe<A, B>
void operator/(const A&, const B&) = delete;
template <typename A, typename B>
  requires HasMaybe<A, B>
void operator%(const A&, const B&) = delete;
template <typename A>
void operator+=(A&, MaybeInt) = delete;
template <typename A>
void operator-=(A&, MaybeInt) = delete;
void operator-(MaybeInt) = delete;

}  // namespace steplens::store
