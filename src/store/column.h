#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/maybe.h"
#include "store/unknown.h"

namespace steplens::store {

// One column of a table: values it owns and can grow, or a view of a mapped cache file. The first
// rows, as long as they are all the same, are only counted: a column that says nothing or the same
// of all rows is a value and a number. Once another value comes they are stored as well, unless
// they are most of the rows that Reserve announced. So what a format does not say, or says of all
// rows alike, costs neither memory nor the time to fill it.
//
// Who asks for all rows at once (span, begin, end) gets an array; where rows are only counted it is
// made at the first call. Columns that know nothing share one. What only looks at single rows
// should do it by [].
//
// Reading is safe from any number of threads; Set is not, not even of different rows.
template <typename T>
class Column {
 public:
  using Value = T;

  Column() = default;
  Column(const Column& other) { *this = other; }
  Column& operator=(const Column& other) {
    if (this == &other) return *this;
    ForgetArray();  // nor is the other's taken: another thread may be asking for it
    same_ = other.same_;
    same_rows_ = other.same_rows_;
    owned_ = std::vector<T>(other.owned_);  // without the room it had: data_ would not be there
    view_ = other.view_;
    data_ = stored().data();
    reserved_ = other.reserved_;
    return *this;
  }
  Column(Column&& other) noexcept { *this = std::move(other); }
  Column& operator=(Column&& other) noexcept {
    if (this == &other) return *this;
    ForgetArray();
    same_ = other.same_;
    same_rows_ = std::exchange(other.same_rows_, 0);
    owned_ = std::exchange(other.owned_, {});
    view_ = std::exchange(other.view_, {});
    data_ = std::exchange(other.data_, nullptr);
    reserved_ = std::exchange(other.reserved_, 0);
    array_ = std::exchange(other.array_, nullptr);
    return *this;
  }
  ~Column() { ForgetArray(); }

  [[gnu::always_inline]] void Append(T value) {
    if (array_ == nullptr) [[likely]] {
      if (owned_.size() != owned_.capacity()) return owned_.push_back(value);
      if (same_rows_ != 0 && owned_.empty() && IsSame(value, same_)) return void(++same_rows_);
    }
    AppendSlowly(value);
  }
  void Append(std::span<const T> values) {
    if (values.empty() || CountAll(values)) return;
    MakeRoom();
    owned_.insert(owned_.end(), values.begin(), values.end());
    data_ = owned_.data();
  }
  void AppendUnknown(size_t rows) {
    if (rows == 0 || Count(NotKnown<T>(), rows)) return;
    MakeRoom();
    owned_.insert(owned_.end(), rows, NotKnown<T>());
    data_ = owned_.data();
  }
  // How many rows there will be. Room is taken when the first value comes that has to be stored.
  void Reserve(size_t rows) {
    reserved_ = rows;
    if (owned_.empty()) return;
    if (!AreMostSame()) return Own();
    owned_.reserve(rows - std::min(rows, same_rows_));
    data_ = owned_.data();
  }
  void Set(size_t row, T value) {
    if (row < same_rows_ && IsSame(value, same_)) return;
    Own();
    owned_[row] = value;
  }
  void Attach(std::span<const T> view) {
    *this = Column();
    view_ = view;
    data_ = view.data();
  }

  // Whether there are rows and none of them is known. Never true of a view that was attached.
  bool is_unknown() const { return same_rows_ != 0 && owned_.empty() && IsUnknown(same_); }
  // All rows. Valid until the column changes.
  std::span<const T> span() const {
    return same_rows_ == 0 ? stored() : std::span<const T>(Array(), size());
  }
  // The last rows, which are mostly stored even where the first ones are not.
  std::span<const T> last(size_t rows) const {
    return (rows <= stored().size() ? stored() : span()).last(rows);
  }
  // How many of the first rows are the same and only counted, and the rows after them.
  size_t same_rows() const { return same_rows_; }
  std::span<const T> stored() const { return owned_.empty() ? view_ : std::span<const T>(owned_); }

  size_t size() const { return same_rows_ + owned_.size() + view_.size(); }
  T operator[](size_t row) const { return row < same_rows_ ? same_ : data_[row - same_rows_]; }
  auto begin() const { return span().begin(); }
  auto end() const { return span().end(); }

 private:
  static bool IsUnknown(T value) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
    return value == NotKnown<T>();
  }
  static bool IsSame(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {  // 0.0 and -0.0 are two values
      return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
    }
    return a == b;
  }

  // Adds rows of a value to those that are only counted; false if they have to be stored.
  bool Count(T value, size_t rows) {
    if (!owned_.empty() || view_.data() != nullptr) return false;
    if (same_rows_ != 0 && !IsSame(value, same_)) return false;
    ForgetArray();
    same_ = IsUnknown(value) ? NotKnown<T>() : value;
    same_rows_ += rows;
    return true;
  }
  bool CountAll(std::span<const T> values) {
    const auto is_first = [&](T value) { return IsSame(value, values.front()); };
    return owned_.empty() && std::all_of(values.begin(), values.end(), is_first) &&
           Count(values.front(), values.size());
  }
  // The rare part of Append, kept out of the loops that append.
  [[gnu::noinline]] void AppendSlowly(T value) {
    if (Count(value, 1)) return;
    MakeRoom();
    owned_.push_back(value);
    data_ = owned_.data();
  }

  // Whether the rows that are counted are worth to stay so. An array of all rows, if one is asked
  // for, comes on top of the others: these must be few.
  bool AreMostSame() const {
    constexpr size_t kMany = 1024;
    return same_rows_ >= kMany && same_rows_ >= reserved_ / 3 * 2;
  }
  // Before rows are stored behind the present ones.
  void MakeRoom() {
    if (!owned_.empty()) return ForgetArray();
    if (reserved_ <= same_rows_ || !AreMostSame()) return Own();
    ForgetArray();
    owned_.reserve(reserved_ - same_rows_);
    data_ = owned_.data();
  }
  // Stores all rows.
  void Own() {
    if (same_rows_ == 0 && !owned_.empty()) {
      owned_.reserve(reserved_);
    } else {
      std::vector<T> all;
      all.reserve(std::max(reserved_, size()));
      all.assign(same_rows_, same_);
      all.insert(all.end(), stored().begin(), stored().end());
      ForgetArray();
      owned_ = std::move(all);
      view_ = {};
      same_rows_ = 0;
    }
    data_ = owned_.data();
  }

  // All rows in an array that stays as it is: the same one for all who ask.
  const T* Array() const {
    const std::atomic_ref<const T*> array(array_);
    const T* known = array.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    const T* const made = is_unknown() ? UnknownRun<T>::Of(same_rows_).data() : MakeArray();
    if (array.compare_exchange_strong(known, made)) return made;
    if (!is_unknown()) delete[] made;
    return known;
  }
  const T* MakeArray() const {
    auto all = std::make_unique_for_overwrite<T[]>(size());
    std::copy(stored().begin(), stored().end(), std::fill_n(all.get(), same_rows_, same_));
    return all.release();
  }
  // Before anything changes.
  void ForgetArray() {
    if (array_ != nullptr && !is_unknown()) delete[] array_;
    array_ = nullptr;
  }

  T same_ = NotKnown<T>();  // the value of the rows that are only counted
  size_t same_rows_ = 0;    // the first ones; then there is no view
  std::vector<T> owned_;    // the rows after them
  std::span<const T> view_;
  const T* data_ = nullptr;  // of owned_ or view_, whichever has rows
  size_t reserved_ = 0;
  mutable const T* array_ = nullptr;  // what Array gave; shared if nothing is known, else our own
};

// A column of whole numbers of which some may be missing: who looks at one row asks first.
class MaybeColumn : public Column<int64_t> {
 public:
  MaybeColumn() = default;
  MaybeColumn(Column<int64_t> column) : Column(std::move(column)) {}  // NOLINT
  MaybeInt operator[](size_t row) const { return MaybeInt(Column::operator[](row)); }
};

}  // namespace steplens::store
