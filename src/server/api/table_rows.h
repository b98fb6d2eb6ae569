#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "query/catalog.h"
#include "server/dataset.h"
#include "table/table.h"

namespace steplens::server {

// A cell of any table: nothing, an integer (times in ns), a number or a text.
using CellValue = std::variant<std::monostate, int64_t, double, std::string_view>;

struct RowColumn {
  std::string name;
  table::CellType type = table::CellType::kInt;
  int decimals = 3;
};

class RowSource;

// A column that its source has, and the only way to read cells: the source alone makes one, it
// reads that source alone, and rows are checked. So no request can make a handler read beside a
// table. Valid as long as the source.
class SourceColumn {
 public:
  inline const RowColumn& info() const;
  inline CellValue At(size_t row) const;  // nothing for rows that the source lacks

 private:
  friend class RowSource;
  SourceColumn(const RowSource& source, size_t index) : source_(&source), index_(index) {}
  const RowSource* source_;
  size_t index_;
};

// Rows that can be filtered, sorted and grouped, wherever they are kept. Immutable; texts live as
// long as the source.
class RowSource {
 public:
  virtual ~RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  size_t rows() const { return rows_; }
  std::vector<SourceColumn> Columns() const;
  std::optional<SourceColumn> Find(std::string_view name) const;

 protected:
  RowSource() = default;
  std::vector<RowColumn> columns_;  // filled by the constructor, as is rows_
  size_t rows_ = 0;

 private:
  friend class SourceColumn;
  virtual CellValue Cell(size_t column, size_t row) const = 0;  // both are in range
};

const RowColumn& SourceColumn::info() const { return source_->columns_[index_]; }
CellValue SourceColumn::At(size_t row) const {
  return row < source_->rows_ ? source_->Cell(index_, row) : CellValue();
}

// A result table, which it owns.
std::shared_ptr<const RowSource> RowsOf(table::Table table);
// A table of the store or a sheet of the input, in place. `table` must be prepared, and its views
// are derived here: hold the catalog's mutex.
std::shared_ptr<const RowSource> RowsOf(query::SqlTable& table);
// One row a slice of the lanes: name, start_ns (shown), dur_ns, category, lane, rank, and track and
// i to find it by. `base_ns` and `titles` are parallel to the lanes.
struct EventLane {
  const Lane* lane = nullptr;
  const store::TraceStore* store = nullptr;
  int64_t rank = 0;
  int64_t base_ns = 0;
  std::string title;
};
std::shared_ptr<const RowSource> RowsOf(std::vector<EventLane> lanes, const NamePool& names);

// What is left of a source after filtering and sorting: its rows in the order asked for.
struct PreparedTable {
  std::shared_ptr<const RowSource> source;
  std::vector<uint32_t> order;  // rows of the source
  size_t total = 0;             // rows before filtering
  std::string definition{};     // of a metric
};

}  // namespace steplens::server
