#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/facts/rank_view.h"
#include "base/status.h"
#include "query/analysis_table.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::query {

// What is behind the cells of one column in one part, and which values mean NULL.
enum class ValueKind : uint8_t {
  kAbsent,     // NULL in every row
  kRowNumber,  // no data: the row itself
  kRank,       // no data: the part's rank
  kInt64,      // NULL is store::kNone
  kUint32,
  kRowId,    // uint32_t; NULL is store::kNoId
  kText,     // StringId of the part's store
  kDouble,   // NULL is NaN
  kString,   // std::string
  kDerived,  // not computed yet
};

// Points into a column of the job or of an analysis; the job outlives the catalog.
struct ColumnView {
  ValueKind kind = ValueKind::kAbsent;
  const void* data = nullptr;

  // The bytes of a row as a T of the same size: ids of several types are read as uint32_t.
  template <typename T>
  T Load(size_t row) const {
    T value;
    std::memcpy(&value, static_cast<const char*>(data) + row * sizeof(T), sizeof(T));
    return value;
  }
};

// The rows of a column ordered by value, then by row. Built once a column has been searched often.
struct RowIndex {
  size_t searches = 0;
  std::vector<uint32_t> order;  // empty until built
};

// The rows that one rank adds to a table; an analysis has a single part.
struct Part {
  int64_t rank = 0;
  size_t rows = 0;
  const store::TraceStore* store = nullptr;  // none for an analysis
  const analysis::RankView* view = nullptr;  // none where nothing is derived
  std::vector<ColumnView> columns;
  std::vector<RowIndex> indexes;  // one per column
};

// Which conditions a scan can apply to a column.
enum class Pushdown : uint8_t {
  kNone,
  kRank,       // ranges, a whole part at a time
  kRowNumber,  // ranges, without looking at rows
  kInteger,    // ranges
  kText,       // equality
};

struct SqlColumn {
  std::string name;
  std::string_view type;  // INTEGER, REAL, TEXT; empty if ranks disagree
  std::string_view doc;   // empty for columns that the input named
  Pushdown pushdown = Pushdown::kNone;
  ColumnView (*derive)(const analysis::RankView&) = nullptr;  // of derived columns
  bool is_stored = false;  // a derived column that inputs may have
};

struct SqlTable {
  std::string name;
  std::string doc;
  std::vector<SqlColumn> columns;
  std::vector<Part> parts;  // by rank

  std::function<table::Table()> compute;          // of analyses
  std::function<table::Table()> compute_columns;  // the same without rows; none if they may differ
  std::optional<table::Table> result;             // what `columns` and `parts` of an analysis show

  std::vector<TableArg> args;  // hidden columns behind the others
  std::function<Result<table::Table>(const analysis::QuestionArgs&)> ask;  // with arguments

  // The same columns with the rows of the answer to `given`, computed at the first call. It lives
  // as long as this table: SQLite may hold on to its texts.
  Result<SqlTable*> Answer(const analysis::QuestionArgs& given);
  // Computes an analysis at the first call; then it has columns and rows.
  void Prepare();
  // The columns, without the rows of an analysis where that is possible.
  std::vector<SqlColumn> DescribeColumns();
  // Makes a computed table the content of this one.
  void Show(table::Table computed);
  // The view of a column, derived now if it was not before.
  const ColumnView& View(Part& part, size_t column);
  size_t rows() const;

 private:
  std::map<std::string, std::unique_ptr<SqlTable>> answers_;  // by arguments
};

// All tables a query can name: those of the store, `ranks`, the analyses and the sheets of the
// input. Sheets and their columns get a number behind their name where it is taken.
class Catalog {
 public:
  // Fails if an analysis has the name of another table.
  static Result<Catalog> Build(const store::Job& job, std::vector<AnalysisTable> analyses);

  const std::vector<std::unique_ptr<SqlTable>>& tables() const { return tables_; }
  SqlTable* Find(std::string_view name) const;  // null if there is none

  // CREATE TABLE statements with a comment on each table and column. Computes the analyses whose
  // columns depend on the input.
  std::string Describe() const;

 private:
  std::vector<std::unique_ptr<analysis::RankView>> views_;  // one per rank; parts refer to them
  std::vector<std::unique_ptr<SqlTable>> tables_;           // pointers: SQLite refers to tables
};

}  // namespace steplens::query
