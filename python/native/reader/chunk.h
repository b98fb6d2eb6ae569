#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/string_pool.h"
#include "query/catalog.h"

namespace steplens::python {

// What the values of a chunk are in memory. Texts are numbers of a dictionary.
enum class ChunkType : uint8_t { kInt64, kInt32, kUint32, kDouble, kText };
size_t ValueBytes(ChunkType type);

// The values of one column in one part of a table, one after the other: those of the store where it
// has them, made once where not (row numbers, facts that SQL computes). Does not change.
class Chunk {
 public:
  // `view` belongs to the column and the part; what it points to outlives the chunk.
  Chunk(const query::SqlColumn& column, const query::Part& part, const query::ColumnView& view);

  ChunkType type() const { return type_; }
  size_t rows() const { return rows_; }
  const void* data() const { return data_; }                // never null
  const StringPool& dictionary() const { return *texts_; }  // of texts

  // A bit per row, 1 where there is a value; null if all rows have one. Made at the first call.
  const uint8_t* validity() const;
  size_t null_count() const;
  bool IsNull(size_t row) const;

  template <typename T>
  T Get(size_t row) const {
    return static_cast<const T*>(data_)[row];
  }
  std::string_view Text(size_t row) const {
    return texts_->Get(static_cast<StringId>(Get<uint32_t>(row)));
  }

 private:
  enum class NullRule : uint8_t { kNever, kNoneInt64, kNoId, kNan, kListed, kAll };

  void MakeNumbers(int64_t first, int64_t step);
  void MakeRank(int64_t rank);
  void TakeStrings(const std::string* texts);
  void TakeNumbersAsTexts(const query::ColumnView& view);
  void MakeAbsent(std::string_view type);
  void FindNulls() const;
  template <typename IsNullValue>
  void FindNullsBy(IsNullValue is_null) const;

  ChunkType type_ = ChunkType::kInt64;
  NullRule rule_ = NullRule::kNever;
  size_t rows_ = 0;
  const void* data_ = nullptr;
  const StringPool* texts_ = nullptr;

  std::vector<int64_t> made_longs_;
  std::vector<int32_t> made_ints_;
  std::unique_ptr<StringPool> made_texts_;
  std::vector<bool> listed_nulls_;

  mutable std::once_flag nulls_found_;
  mutable std::vector<uint8_t> validity_;
  mutable size_t null_count_ = 0;
};

// The chunks of some tables: each is made when it is first asked for, and kept. For any thread.
class ChunkStore {
 public:
  // The table must outlive this, and nobody else may derive its columns.
  const Chunk& Of(query::SqlTable& table, size_t part, size_t column);

 private:
  std::mutex mutex_;
  std::map<std::tuple<const query::SqlTable*, size_t, size_t>, std::unique_ptr<const Chunk>>
      chunks_;  // by table, part and column
};

}  // namespace steplens::python
