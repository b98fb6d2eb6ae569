#include "server/api/table_rows.h"

#include <algorithm>
#include <cmath>

namespace steplens::server {
namespace {

CellValue FromInt(int64_t value) { return value == store::kNone ? CellValue() : CellValue(value); }
CellValue FromDouble(double value) { return std::isnan(value) ? CellValue() : CellValue(value); }

class TableRows : public RowSource {
 public:
  explicit TableRows(table::Table table) : table_(std::move(table)) {
    for (const table::Column& column : table_.columns())
      columns_.push_back({column.name, column.type, column.decimals});
    rows_ = table_.rows();
    for (const table::Column& column : table_.columns()) rows_ = std::min(rows_, column.size());
  }

 private:
  CellValue Cell(size_t column, size_t row) const override {
    const table::Column& cells = table_.columns()[column];
    switch (cells.type) {
      case table::CellType::kText:
        return std::string_view(cells.texts[row]);
      case table::CellType::kDouble:
        return FromDouble(cells.doubles[row]);
      case table::CellType::kInt:
      case table::CellType::kTimeUs:
        return FromInt(cells.ints[row]);
    }
    return {};
  }

  table::Table table_;
};

class SqlRows : public RowSource {
 public:
  explicit SqlRows(query::SqlTable& table) {
    for (const query::SqlColumn& column : table.columns) {
      const table::CellType type = column.type == "INTEGER" ? table::CellType::kInt
                                   : column.type == "REAL"  ? table::CellType::kDouble
                                                            : table::CellType::kText;
      columns_.push_back({column.name, type});
    }
    for (query::Part& part : table.parts) {
      View view{rows_, part.rank, part.store, {}};
      for (size_t c = 0; c < table.columns.size(); ++c) view.columns.push_back(table.View(part, c));
      parts_.push_back(std::move(view));
      rows_ += part.rows;
    }
  }

 private:
  CellValue Cell(size_t column, size_t row) const override {
    const auto behind =
        std::upper_bound(parts_.begin(), parts_.end(), row,
                         [](size_t value, const View& part) { return value < part.first_row; });
    const View& part = *(behind - 1);
    const size_t r = row - part.first_row;
    const query::ColumnView& view = part.columns[column];
    switch (view.kind) {
      case query::ValueKind::kAbsent:
      case query::ValueKind::kDerived:
        return {};
      case query::ValueKind::kRowNumber:
        return static_cast<int64_t>(r);
      case query::ValueKind::kRank:
        return part.rank;
      case query::ValueKind::kInt64:
        return FromInt(view.Load<int64_t>(r));
      case query::ValueKind::kUint32:
        return static_cast<int64_t>(view.Load<uint32_t>(r));
      case query::ValueKind::kRowId: {
        const auto id = view.Load<uint32_t>(r);
        return id == store::kNoId ? CellValue() : CellValue(static_cast<int64_t>(id));
      }
      case query::ValueKind::kText:
        return part.store->Text(StringId{view.Load<uint32_t>(r)});
      case query::ValueKind::kDouble:
        return FromDouble(view.Load<double>(r));
      case query::ValueKind::kString:
        return std::string_view(static_cast<const std::string*>(view.data)[r]);
    }
    return {};
  }

  struct View {
    size_t first_row;
    int64_t rank;
    const store::TraceStore* store;
    std::vector<query::ColumnView> columns;
  };
  std::vector<View> parts_;
};

class EventRows : public RowSource {
 public:
  EventRows(std::vector<EventLane> lanes, const NamePool& names)
      : lanes_(std::move(lanes)), names_(names) {
    using enum table::CellType;
    columns_ = {{"name", kText}, {"start_ns", kInt}, {"dur_ns", kInt}, {"category", kText},
                {"lane", kText}, {"rank", kInt},     {"track", kInt},  {"i", kInt}};
    for (const EventLane& lane : lanes_) {
      first_.push_back(rows_);
      rows_ += lane.lane->rows.size();
    }
  }

 private:
  CellValue Cell(size_t column, size_t row) const override {
    const auto behind = std::upper_bound(first_.begin(), first_.end(), row);
    const auto at = static_cast<size_t>(behind - first_.begin()) - 1;
    const EventLane& lane = lanes_[at];
    const SliceColumns& columns = lane.lane->rows.columns();
    const uint32_t slice = lane.lane->rows.slice_at(row - first_[at]);
    switch (column) {
      case 0:
        return names_.Text(columns.name_of(slice));
      case 1:
        return SubtractSaturating(columns.begin(slice), lane.base_ns);
      case 2:
        return columns.dur(slice);
      case 3:
        return lane.lane->is_derived() ? std::string_view()
                                       : lane.store->Text(lane.store->slices.category[slice]);
      case 4:
        return std::string_view(lane.title);
      case 5:
        return lane.rank;
      case 6:
        return static_cast<int64_t>(lane.lane->id);
      default:
        return static_cast<int64_t>(slice);
    }
  }

  std::vector<EventLane> lanes_;
  const NamePool& names_;
  std::vector<size_t> first_;
};

}  // namespace

std::vector<SourceColumn> RowSource::Columns() const {
  std::vector<SourceColumn> out;
  for (size_t c = 0; c < columns_.size(); ++c) out.push_back(SourceColumn(*this, c));
  return out;
}

std::optional<SourceColumn> RowSource::Find(std::string_view name) const {
  const auto at = std::find_if(columns_.begin(), columns_.end(),
                               [&](const RowColumn& column) { return column.name == name; });
  if (at == columns_.end()) return std::nullopt;
  return SourceColumn(*this, static_cast<size_t>(at - columns_.begin()));
}

std::shared_ptr<const RowSource> RowsOf(table::Table table) {
  return std::make_shared<TableRows>(std::move(table));
}

std::shared_ptr<const RowSource> RowsOf(query::SqlTable& table) {
  return std::make_shared<SqlRows>(table);
}

std::shared_ptr<const RowSource> RowsOf(std::vector<EventLane> lanes, const NamePool& names) {
  return std::make_shared<EventRows>(std::move(lanes), names);
}

}  // namespace steplens::server
