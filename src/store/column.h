#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/unknown.h"

namespace steplens::store {

// One column of a table: values it owns and can grow, or a view of a mapped cache file. As long as
// no value of it is known it is a number of rows; who asks for all of them at once gets a view of
// the array that all such columns share. So what a format does not say costs neither memory nor the
// time to fill it.
//
// Reading is safe from any number of threads; Set is not, not even of different rows.
template <typename T>
class Column {
 public:
  using Value = T;

  Column() = default;
  Column(const Column& other) { *this = other; }
  Column& operator=(const Column& other) {
    owned_ = other.owned_;
    view_ = other.view_;
    unknown_rows_ = other.unknown_rows_;
    reserved_ = other.reserved_;
    run_ = nullptr;  // another thread may be asking `other` for it
    return *this;
  }
  Column(Column&& other) noexcept { *this = std::move(other); }
  Column& operator=(Column&& other) noexcept {
    owned_ = std::exchange(other.owned_, {});
    view_ = std::exchange(other.view_, {});
    unknown_rows_ = std::exchange(other.unknown_rows_, 0);
    reserved_ = std::exchange(other.reserved_, 0);
    run_ = std::exchange(other.run_, nullptr);
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
    unknown_rows_ += rows;
    run_ = nullptr;  // may be too short now
  }
  // Room is taken when the first known value comes.
  void Reserve(size_t rows) {
    reserved_ = rows;
    if (!owned_.empty()) owned_.reserve(rows);
  }
  void Set(size_t row, T value) {
    if (is_unknown() && IsUnknown(value)) return;
    Own();
    owned_[row] = value;
  }
  void Attach(std::span<const T> view) {
    owned_ = {};
    view_ = view;
    unknown_rows_ = 0;
  }

  // Whether there are rows and none of them is known. Never true of a view that was attached.
  bool is_unknown() const { return unknown_rows_ != 0; }
  // Valid until the column changes.
  std::span<const T> span() const {
    if (!owned_.empty()) return owned_;
    return is_unknown() ? std::span<const T>(Run(), unknown_rows_) : view_;
  }
  size_t size() const { return !owned_.empty() ? owned_.size() : view_.size() + unknown_rows_; }
  T operator[](size_t row) const {
    if (!owned_.empty()) return owned_[row];
    return is_unknown() ? NotKnown<T>() : view_[row];
  }
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
  bool CanStayUnknown() const { return view_.data() == nullptr; }
  void Own() {
    if (!owned_.empty()) return;
    owned_.reserve(std::max(reserved_, size()));
    owned_.assign(view_.begin(), view_.end());
    owned_.insert(owned_.end(), unknown_rows_, NotKnown<T>());
    view_ = {};
    unknown_rows_ = 0;
  }
  // The first unknown_rows_ of an array that stays as it is: the same one for all who ask.
  const T* Run() const {
    const std::atomic_ref<const T*> run(run_);
    const T* known = run.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    const T* const made = UnknownRun<T>::Of(unknown_rows_).data();
    return run.compare_exchange_strong(known, made) ? made : known;
  }

  std::vector<T> owned_;
  std::span<const T> view_;
  size_t unknown_rows_ = 0;         // instead of values; then there is no view
  mutable const T* run_ = nullptr;  // what Run gave, while nothing is known
  size_t reserved_ = 0;
};

}  // namespace steplens::store
