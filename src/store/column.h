#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/unknown.h"

namespace steplens::store {

// One column of a table: values it owns and can grow, or a view of a mapped cache file. As long as
// no value of it is known it is a view of the array that all such columns share, so that what a
// format does not say costs neither memory nor the time to fill it.
//
// Reading is safe from any number of threads; Set is not, not even of different rows.
template <typename T>
class Column {
 public:
  using Value = T;

  Column() = default;
  Column(const Column&) = default;
  Column& operator=(const Column&) = default;
  Column(Column&& other) noexcept { *this = std::move(other); }
  Column& operator=(Column&& other) noexcept {
    owned_ = std::exchange(other.owned_, {});
    view_ = std::exchange(other.view_, {});
    shared_ = std::exchange(other.shared_, {});
    reserved_ = std::exchange(other.reserved_, 0);
    return *this;
  }
  ~Column() = default;

  [[gnu::always_inline]] void Append(T value) {
    if (owned_.empty() && !OwnUnlessUnknown(value)) return;
    owned_.push_back(value);
  }
  void Append(std::span<const T> values) {
    if (owned_.empty()) {
      if (CanStayUnknown() && std::all_of(values.begin(), values.end(), IsUnknown))
        return AppendUnknown(values.size());
      Own();
    }
    owned_.insert(owned_.end(), values.begin(), values.end());
  }
  void AppendUnknown(size_t rows) {
    if (!owned_.empty() || !CanStayUnknown()) {
      Own();
      owned_.insert(owned_.end(), rows, NotKnown<T>());
      return;
    }
    const size_t all = view_.size() + rows;
    if (all > shared_.size()) shared_ = UnknownRun<T>::Of(std::max(all, reserved_));
    if (all > 0) view_ = shared_.first(all);
  }
  // Room is taken when the first known value comes.
  void Reserve(size_t rows) {
    reserved_ = rows;
    if (!owned_.empty()) owned_.reserve(rows);
  }
  void Set(size_t row, T value) {
    if (view_.data() != nullptr) {
      if (is_unknown() && IsUnknown(value)) return;
      Own();
    }
    owned_[row] = value;
  }
  void Attach(std::span<const T> view) {
    view_ = view;
    shared_ = {};
  }

  // Whether there are rows and none of them is known. Never true of a view that was attached.
  bool is_unknown() const { return shared_.data() != nullptr; }
  std::span<const T> span() const {
    return view_.data() != nullptr ? view_ : std::span<const T>(owned_);
  }
  size_t size() const { return span().size(); }
  T operator[](size_t row) const { return span()[row]; }
  auto begin() const { return span().begin(); }
  auto end() const { return span().end(); }

 private:
  static bool IsUnknown(T value) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
    return value == NotKnown<T>();
  }
  // The rare part of Append, kept out of the loops that append. False: the value is in.
  [[gnu::noinline]] bool OwnUnlessUnknown(T value) {
    if (CanStayUnknown() && IsUnknown(value)) {
      AppendUnknown(1);
      return false;
    }
    Own();
    return true;
  }
  bool CanStayUnknown() const { return view_.data() == nullptr || is_unknown(); }
  void Own() {
    if (owned_.empty()) owned_.reserve(std::max(reserved_, view_.size()));
    if (view_.data() == nullptr) return;
    owned_.assign(view_.begin(), view_.end());
    view_ = {};
    shared_ = {};
  }

  std::vector<T> owned_;
  std::span<const T> view_;
  std::span<const T> shared_;  // what view_ is the begin of, while nothing is known
  size_t reserved_ = 0;
};

}  // namespace steplens::store
