#include "query/table_scan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace steplens::query {
namespace {

// Sorting a column costs about as much as reading it this many times.
constexpr size_t kSearchesBeforeIndex = 32;

int64_t ValueAt(const ColumnView& view, size_t row) {
  if (view.kind == ValueKind::kInt64) return view.Load<int64_t>(row);
  return view.Load<uint32_t>(row);
}

// The first row of [row, end) whose value is in the range; `end` if there is none. Both limits are
// values of T.
template <typename T>
size_t FindInRange(const ColumnView& view, size_t row, size_t end, int64_t first, int64_t last) {
  const T low = static_cast<T>(first);
  const T high = static_cast<T>(last);
  for (; row < end; ++row) {
    const T value = view.Load<T>(row);
    if (low <= value && value <= high) return row;
  }
  return end;
}

// The values of a column that are not NULL.
struct Domain {
  int64_t first;
  int64_t last;
};
Domain DomainOf(ValueKind kind) {
  constexpr auto kMaxUint32 = int64_t{std::numeric_limits<uint32_t>::max()};
  switch (kind) {
    case ValueKind::kInt64:
      return {store::kNone + 1, std::numeric_limits<int64_t>::max()};
    case ValueKind::kUint32:
    case ValueKind::kText:
      return {0, kMaxUint32};
    case ValueKind::kRowId:
      return {0, int64_t{store::kNoId} - 1};
    default:
      return {0, -1};  // no integers here: no row is in any range
  }
}

void BuildIndex(RowIndex& index, const ColumnView& view, size_t rows) {
  index.order.resize(rows);
  std::iota(index.order.begin(), index.order.end(), uint32_t{0});
  std::sort(index.order.begin(), index.order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(ValueAt(view, a), a) < std::pair(ValueAt(view, b), b);
  });
}

}  // namespace

TableScan::TableScan(SqlTable& table, RowFilter filter)
    : table_(&table), filter_(std::move(filter)) {
  if (filter_.matches_nothing) return;
  Settle();
}

void TableScan::Settle() {
  pos_ = FindMatch();
  while (pos_ == end_) {
    if (!EnterNextPart()) return;
    pos_ = FindMatch();
  }
}

bool TableScan::EnterNextPart() {
  while (next_part_ < table_->parts.size()) {
    Part& part = table_->parts[next_part_++];
    if (!EnterPart(part)) continue;
    part_ = &part;
    return true;
  }
  part_ = nullptr;
  return false;
}

// False if no row of the part can pass.
bool TableScan::EnterPart(Part& part) {
  conditions_.clear();
  order_ = {};
  int64_t first_row = 0;
  int64_t last_row = static_cast<int64_t>(part.rows) - 1;
  for (const auto& [column, first, last] : filter_.ranges) {
    const Pushdown pushdown = table_->columns[column].pushdown;
    if (pushdown == Pushdown::kRank) {
      if (part.rank < first || part.rank > last) return false;
    } else if (pushdown == Pushdown::kRowNumber) {
      first_row = std::max(first_row, first);
      last_row = std::min(last_row, last);
    } else if (!AddCondition(part, column, first, last)) {
      return false;
    }
  }
  for (const auto& [column, text] : filter_.texts) {
    const auto id = part.store->strings.Find(text);
    if (!id) return false;
    const auto value = static_cast<int64_t>(*id);
    if (!AddCondition(part, column, value, value)) return false;
  }
  if (first_row > last_row) return false;
  pos_ = static_cast<size_t>(first_row);
  end_ = static_cast<size_t>(last_row) + 1;
  UseIndex(part, pos_, end_);
  return pos_ < end_;
}

bool TableScan::AddCondition(Part& part, size_t column, int64_t first, int64_t last) {
  const ColumnView& view = table_->View(part, column);
  const Domain domain = DomainOf(view.kind);
  first = std::max(first, domain.first);
  last = std::min(last, domain.last);
  if (first > last) return false;
  conditions_.push_back({column, view, first, last});
  return true;
}

// Goes through the rows of an equality condition instead of all rows, if that is worth an index by
// now.
void TableScan::UseIndex(Part& part, size_t row_begin, size_t row_end) {
  const auto equality = std::find_if(conditions_.begin(), conditions_.end(),
                                     [](const Condition& c) { return c.first == c.last; });
  if (equality == conditions_.end() || row_end - row_begin == 1) return;
  RowIndex& index = part.indexes[equality->column];
  if (index.order.empty()) {
    if (++index.searches <= kSearchesBeforeIndex) return;
    BuildIndex(index, equality->view, part.rows);
  }
  // Within equal values the index is ordered by row, so the wanted rows lie together.
  const auto is_before = [&](uint32_t row, std::pair<int64_t, size_t> wanted) {
    return std::pair(ValueAt(equality->view, row), size_t{row}) < wanted;
  };
  const auto lower = [&](size_t row) {
    const auto wanted = std::pair(equality->first, row);
    const auto at = std::lower_bound(index.order.begin(), index.order.end(), wanted, is_before);
    return static_cast<size_t>(at - index.order.begin());
  };
  order_ = index.order;
  pos_ = lower(row_begin);
  end_ = lower(row_end);
  conditions_.erase(equality);
}

size_t TableScan::FindMatch() const {
  size_t pos = pos_;
  if (conditions_.empty()) return std::min(pos, end_);
  if (!order_.empty()) {
    while (pos < end_ && !Matches(order_[pos], 0)) ++pos;
    return pos;
  }
  const auto& [column, view, first, last] = conditions_.front();
  for (; pos < end_; ++pos) {
    pos = view.kind == ValueKind::kInt64 ? FindInRange<int64_t>(view, pos, end_, first, last)
                                         : FindInRange<uint32_t>(view, pos, end_, first, last);
    if (pos == end_ || Matches(pos, 1)) return pos;
  }
  return pos;
}

bool TableScan::Matches(size_t row, size_t first_condition) const {
  for (size_t i = first_condition; i < conditions_.size(); ++i) {
    const int64_t value = ValueAt(conditions_[i].view, row);
    if (value < conditions_[i].first || value > conditions_[i].last) return false;
  }
  return true;
}

}  // namespace steplens::query
