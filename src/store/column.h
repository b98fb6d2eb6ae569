#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace steplens::store {

// One column of a table: values it owns and can grow, or a view of a mapped cache file.
template <typename T>
class Column {
 public:
  using Value = T;

  void Append(T value) { owned_.push_back(value); }
  void Append(std::span<const T> values) {
    owned_.insert(owned_.end(), values.begin(), values.end());
  }
  void Reserve(size_t rows) { owned_.reserve(rows); }
  void Set(size_t row, T value) { owned_[row] = value; }  // only while owned
  void Attach(std::span<const T> view) { view_ = view; }

  std::span<const T> span() const {
    return view_.data() != nullptr ? view_ : std::span<const T>(owned_);
  }
  size_t size() const { return span().size(); }
  T operator[](size_t row) const { return span()[row]; }
  auto begin() const { return span().begin(); }
  auto end() const { return span().end(); }

 private:
  std::vector<T> owned_;
  std::span<const T> view_;
};

}  // namespace steplens::store
