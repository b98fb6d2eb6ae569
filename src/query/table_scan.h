#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "query/catalog.h"

namespace steplens::query {

// first <= value <= last, in a column with a Pushdown for ranges. NULL is in no range.
struct IntRange {
  size_t column = 0;
  int64_t first = store::kNone;
  int64_t last = std::numeric_limits<int64_t>::max();
};

// Byte-wise equality, in a column of Pushdown::kText.
struct TextEquals {
  size_t column = 0;
  std::string text;
};

// All conditions must hold.
struct RowFilter {
  std::vector<IntRange> ranges;
  std::vector<TextEquals> texts;
  bool matches_nothing = false;  // compared with NULL
};

// Visits the rows of a table that pass a filter, by part and then by row. A condition on rank or id
// costs nothing per row, others a comparison; a column that is searched for equality again and
// again (the inner side of a join) gets an index.
class TableScan {
 public:
  TableScan(SqlTable& table, RowFilter filter);  // stands on the first row

  bool done() const { return part_ == nullptr; }
  void Next() {
    if (++pos_ < end_ && conditions_.empty()) return;
    Settle();
  }

  Part& part() const { return *part_; }
  size_t row() const { return order_.empty() ? pos_ : order_[pos_]; }
  size_t part_number() const { return next_part_ - 1; }

 private:
  // A filter condition on the values of one part.
  struct Condition {
    size_t column;
    ColumnView view;
    int64_t first;
    int64_t last;
  };

  void Settle();
  bool EnterNextPart();
  bool EnterPart(Part& part);
  bool AddCondition(Part& part, size_t column, int64_t first, int64_t last);
  void UseIndex(Part& part, size_t row_begin, size_t row_end);
  size_t FindMatch() const;
  bool Matches(size_t row, size_t first_condition) const;

  SqlTable* table_;
  RowFilter filter_;
  size_t next_part_ = 0;

  Part* part_ = nullptr;  // the part the scan stands in; null at the end
  std::vector<Condition> conditions_;
  std::span<const uint32_t> order_;  // rows to visit, from an index; empty: positions are rows
  size_t pos_ = 0;
  size_t end_ = 0;
};

}  // namespace steplens::query
