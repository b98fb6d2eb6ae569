#include "reader/chunk.h"

#include <cmath>
#include <limits>

#include "base/number.h"
#include "store/unknown.h"

namespace steplens::python {
namespace {

using query::ColumnView;
using query::ValueKind;

// For chunks without rows: readers of the Arrow format want an address all the same.
constexpr int64_t kNoValues[1] = {0};

const StringPool& EmptyPool() {
  static const auto* const pool = new StringPool;
  return *pool;
}

}  // namespace

size_t ValueBytes(ChunkType type) {
  return type == ChunkType::kInt64 || type == ChunkType::kDouble ? 8 : 4;
}

Chunk::Chunk(const query::SqlColumn& column, const query::Part& part, const ColumnView& view)
    : rows_(part.rows), data_(view.data) {
  // Where ranks disagree whether a column is text, it is.
  const bool is_mixed = column.type.empty();
  switch (view.kind) {
    case ValueKind::kRowNumber:
      MakeNumbers(0, 1);
      break;
    case ValueKind::kRank:
      MakeRank(part.rank);
      break;
    case ValueKind::kInt64:
      rule_ = NullRule::kNoneInt64;
      break;
    case ValueKind::kUint32:
      type_ = ChunkType::kUint32;
      break;
    case ValueKind::kRowId:
      type_ = ChunkType::kUint32;
      rule_ = NullRule::kNoId;
      break;
    case ValueKind::kDouble:
      type_ = ChunkType::kDouble;
      rule_ = NullRule::kNan;
      if (is_mixed) TakeNumbersAsTexts(view);
      break;
    case ValueKind::kText:
      type_ = ChunkType::kText;
      texts_ = &part.store->strings;
      break;
    case ValueKind::kString:
      TakeStrings(static_cast<const std::string*>(view.data));
      break;
    case ValueKind::kAbsent:
    case ValueKind::kDerived:
      MakeAbsent(is_mixed ? "TEXT" : column.type);
      break;
  }
  if (rows_ == 0 || data_ == nullptr) data_ = kNoValues;
}

void Chunk::MakeNumbers(int64_t first, int64_t step) {
  made_longs_.resize(rows_);
  for (size_t i = 0; i < rows_; ++i) made_longs_[i] = first + step * static_cast<int64_t>(i);
  data_ = made_longs_.data();
}

// Half the size of the other integers: it is the one column that is made for every table.
void Chunk::MakeRank(int64_t rank) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (rank < -kMost || rank > kMost) return MakeNumbers(rank, 0);
  type_ = ChunkType::kInt32;
  made_ints_.assign(rows_, static_cast<int32_t>(rank));
  data_ = made_ints_.data();
}

void Chunk::TakeStrings(const std::string* texts) {
  type_ = ChunkType::kText;
  made_texts_ = std::make_unique<StringPool>();
  made_ints_.resize(rows_);
  for (size_t i = 0; i < rows_; ++i)
    made_ints_[i] = static_cast<int32_t>(made_texts_->Intern(texts[i]));
  texts_ = made_texts_.get();
  data_ = made_ints_.data();
}

void Chunk::TakeNumbersAsTexts(const ColumnView& view) {
  type_ = ChunkType::kText;
  rule_ = NullRule::kListed;
  made_texts_ = std::make_unique<StringPool>();
  made_ints_.resize(rows_);
  listed_nulls_.resize(rows_);
  for (size_t i = 0; i < rows_; ++i) {
    const auto number = view.Load<double>(i);
    listed_nulls_[i] = std::isnan(number);
    const std::string text = listed_nulls_[i] ? std::string() : FormatDouble(number);
    made_ints_[i] = static_cast<int32_t>(made_texts_->Intern(text));
  }
  texts_ = made_texts_.get();
  data_ = made_ints_.data();
}

void Chunk::MakeAbsent(std::string_view type) {
  if (type == "REAL") type_ = ChunkType::kDouble;
  if (type == "TEXT") {
    type_ = ChunkType::kText;
    texts_ = &EmptyPool();
  }
  rule_ = NullRule::kAll;
  data_ = store::Zeros(rows_ * sizeof(int64_t)).data();
}

bool Chunk::IsNull(size_t row) const {
  switch (rule_) {
    case NullRule::kNever:
      return false;
    case NullRule::kNoneInt64:
      return Get<int64_t>(row) == store::kNone;
    case NullRule::kNoId:
      return Get<uint32_t>(row) == store::kNoId;
    case NullRule::kNan:
      return std::isnan(Get<double>(row));
    case NullRule::kListed:
      return listed_nulls_[row];
    case NullRule::kAll:
      return true;
  }
  return false;
}

// Counting is one fast pass; most columns have no gaps and need no bits.
template <typename IsNullValue>
void Chunk::FindNullsBy(IsNullValue is_null) const {
  size_t count = 0;
  for (size_t i = 0; i < rows_; ++i) count += is_null(i) ? 1 : 0;
  null_count_ = count;
  if (count == 0) return;
  validity_.assign((rows_ + 7) / 8, 0);
  if (count == rows_) return;
  for (size_t i = 0; i < rows_; ++i) {
    if (!is_null(i)) validity_[i / 8] |= static_cast<uint8_t>(1U << (i % 8));
  }
}

void Chunk::FindNulls() const {
  switch (rule_) {
    case NullRule::kNever:
      return;
    case NullRule::kNoneInt64:
      return FindNullsBy([values = static_cast<const int64_t*>(data_)](size_t i) {
        return values[i] == store::kNone;
      });
    case NullRule::kNoId:
      return FindNullsBy([values = static_cast<const uint32_t*>(data_)](size_t i) {
        return values[i] == store::kNoId;
      });
    case NullRule::kNan:
      return FindNullsBy(
          [values = static_cast<const double*>(data_)](size_t i) { return std::isnan(values[i]); });
    case NullRule::kListed:
      return FindNullsBy([this](size_t i) { return listed_nulls_[i]; });
    case NullRule::kAll:
      return FindNullsBy([](size_t) { return true; });
  }
}

const uint8_t* Chunk::validity() const {
  std::call_once(nulls_found_, [this] { FindNulls(); });
  return validity_.empty() ? nullptr : validity_.data();
}

size_t Chunk::null_count() const {
  std::call_once(nulls_found_, [this] { FindNulls(); });
  return null_count_;
}

const Chunk& ChunkStore::Of(query::SqlTable& table, size_t part, size_t column) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<const Chunk>& chunk = chunks_[{&table, part, column}];
  if (!chunk) {
    query::Part& of = table.parts[part];
    chunk = std::make_unique<const Chunk>(table.columns[column], of, table.View(of, column));
  }
  return *chunk;
}

}  // namespace steplens::python
