#include "query/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <type_traits>
#include <utility>

#include "query/unique_names.h"
#include "store/schema_doc.h"
#include "table/sqlite.h"

namespace steplens::query {
namespace {

// SQLite's own limit; a sheet with more columns shows the first ones.
constexpr size_t kMaxColumns = 2000;

using Ranks = std::vector<store::TraceStore>;
using DynamicColumns = std::vector<store::DynamicColumn>;

using analysis::RankView;

struct DerivedSource {
  std::string_view table;
  std::string_view column;
  ColumnView (*derive)(const RankView&);
};
constexpr DerivedSource kDerivedSources[] = {
    {"slices", "depth",
     [](const RankView& view) {
       return ColumnView{ValueKind::kUint32, view.nesting().depth.data()};
     }},
    {"slices", "parent_id",
     [](const RankView& view) {
       return ColumnView{ValueKind::kRowId, view.nesting().parent.data()};
     }},
    {"flows", "from_slice_id",
     [](const RankView& view) {
       return ColumnView{ValueKind::kRowId, view.flow_ends().from_slice.data()};
     }},
    {"flows", "to_slice_id",
     [](const RankView& view) {
       return ColumnView{ValueKind::kRowId, view.flow_ends().to_slice.data()};
     }},
    {"kernels", "step",
     [](const RankView& view) {
       return ColumnView{ValueKind::kInt64, view.kernel_steps().data()};
     }},
    {"kernels", "slice_id",
     [](const RankView& view) {
       return ColumnView{ValueKind::kRowId, view.kernel_slices().slice_of().data()};
     }},
};

template <typename T>
constexpr ValueKind KindOf() {
  if constexpr (std::is_same_v<T, int64_t>) return ValueKind::kInt64;
  if constexpr (std::is_same_v<T, uint32_t>) return ValueKind::kUint32;
  if constexpr (std::is_same_v<T, double>) return ValueKind::kDouble;
  if constexpr (std::is_same_v<T, StringId>) return ValueKind::kText;
  if constexpr (std::is_same_v<T, store::TrackId>) return ValueKind::kRowId;
  if constexpr (std::is_same_v<T, store::SliceId>) return ValueKind::kRowId;
}

template <typename T>
ColumnView MakeView(const store::Column<T>& column) {
  return {KindOf<T>(), column.span().data()};
}

Pushdown PushdownOf(const store::ColumnDoc& doc) {
  if (doc.origin == store::ColumnOrigin::kRank) return Pushdown::kRank;
  if (doc.origin == store::ColumnOrigin::kRowNumber) return Pushdown::kRowNumber;
  if (doc.type == "INTEGER") return Pushdown::kInteger;
  return doc.type == "TEXT" ? Pushdown::kText : Pushdown::kNone;
}

std::unique_ptr<SqlTable> MakeStoreTable(const store::TableDoc& doc) {
  auto table = std::make_unique<SqlTable>();
  table->name = doc.name;
  table->doc = doc.doc;
  for (const store::ColumnDoc& column : doc.columns) {
    table->columns.push_back({column.name, column.type, column.doc, PushdownOf(column)});
    for (const DerivedSource& source : kDerivedSources) {
      if (source.table != doc.name || source.column != column.name) continue;
      table->columns.back().derive = source.derive;
      table->columns.back().is_stored = column.origin != store::ColumnOrigin::kDerived;
    }
  }
  return table;
}

// The part of one rank: `stored` in the order of the declared columns, woven into the SQL order.
Part MakePart(const SqlTable& table, const store::TraceStore& rank, const RankView* view,
              size_t rows, const std::vector<ColumnView>& stored) {
  Part part{rank.info.rank, rows, &rank, view, {}, {}};
  size_t next_stored = 0;
  for (const SqlColumn& column : table.columns) {
    if (column.pushdown == Pushdown::kRowNumber) {
      part.columns.push_back({ValueKind::kRowNumber});
    } else if (column.pushdown == Pushdown::kRank) {
      part.columns.push_back({ValueKind::kRank});
    } else if (column.derive != nullptr) {
      part.columns.push_back({ValueKind::kDerived});
      if (column.is_stored) ++next_stored;
    } else {
      part.columns.push_back(stored[next_stored++]);
    }
  }
  part.indexes.resize(part.columns.size());
  return part;
}

// Columns that the input named, merged over ranks: a name once, in the order of first appearance.
class DynamicUnion {
 public:
  void Add(const DynamicColumns& columns) {
    for (const store::DynamicColumn& column : columns) {
      Entry& entry = Find(column.name);
      if (column.size() == 0) continue;
      (column.is_text() ? entry.has_texts : entry.has_numbers) = true;
    }
  }

  // Adds the columns to a table, as far as SQLite allows.
  void AppendTo(SqlTable& table) {
    UniqueNames names;
    for (const SqlColumn& column : table.columns) names.Add(column.name);
    entries_.resize(std::min(entries_.size(), kMaxColumns - table.columns.size()));
    for (const Entry& entry : entries_) {
      const bool is_mixed = entry.has_texts && entry.has_numbers;
      const std::string_view type = is_mixed ? "" : entry.has_texts ? "TEXT" : "REAL";
      table.columns.push_back(
          {names.Add(entry.name), type, "", type == "TEXT" ? Pushdown::kText : Pushdown::kNone});
    }
  }

  // The views of one rank's columns, in the order of AppendTo.
  std::vector<ColumnView> Views(const DynamicColumns& columns, size_t rows) const {
    std::vector<ColumnView> views(entries_.size());
    for (const store::DynamicColumn& column : columns) {
      const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                      [&](const Entry& e) { return e.name == column.name; });
      if (entry == entries_.end() || column.size() != rows) continue;
      ColumnView& view = views[static_cast<size_t>(entry - entries_.begin())];
      view = column.is_text() ? MakeView(column.texts) : MakeView(column.numbers);
    }
    return views;
  }

 private:
  struct Entry {
    std::string name;
    bool has_texts = false;
    bool has_numbers = false;
  };
  Entry& Find(const std::string& name) {
    for (Entry& entry : entries_) {
      if (entry.name == name) return entry;
    }
    return entries_.emplace_back(Entry{name});
  }
  std::vector<Entry> entries_;
};

// The tables of tables.h, in their order.
void AddStoreTables(const Ranks& ranks, const std::vector<std::unique_ptr<RankView>>& rank_views,
                    std::vector<std::unique_ptr<SqlTable>>& tables) {
  const size_t first = tables.size();
  for (const store::TableDoc& doc : store::DescribeTables()) {
    if (doc.name != "ranks") tables.push_back(MakeStoreTable(doc));
  }
  DynamicUnion metrics;
  for (const store::TraceStore& rank : ranks) metrics.Add(rank.kernel_metrics);
  for (size_t i = first; i < tables.size(); ++i) {
    if (tables[i]->name == store::KernelTable::kName) metrics.AppendTo(*tables[i]);
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    size_t next_table = first;
    ranks[i].ForEachTable([&](const auto& stored) {
      std::vector<ColumnView> views;
      stored.ForEachColumn([&](std::string_view, std::string_view, const auto& column) {
        views.push_back(MakeView(column));
      });
      if (stored.kName == store::KernelTable::kName) {
        const auto more = metrics.Views(ranks[i].kernel_metrics, stored.size());
        views.insert(views.end(), more.begin(), more.end());
      }
      SqlTable& table = *tables[next_table++];
      table.parts.push_back(MakePart(table, ranks[i], rank_views[i].get(), stored.size(), views));
    });
  }
}

const store::DynamicTable* FindSheet(const store::TraceStore& rank, const std::string& name) {
  for (const store::DynamicTable& sheet : rank.sheets) {
    if (sheet.name == name) return &sheet;
  }
  return nullptr;
}

std::unique_ptr<SqlTable> MakeSheetTable(const Ranks& ranks, const std::string& sheet_name,
                                         std::string sql_name) {
  auto table = std::make_unique<SqlTable>();
  table->name = std::move(sql_name);
  table->doc = "A csv file of the input as it is.";
  table->columns = {
      {"id", "INTEGER", "row number within its rank", Pushdown::kRowNumber},
      {"rank", "INTEGER", "the rank it belongs to", Pushdown::kRank},
  };
  DynamicUnion columns;
  for (const store::TraceStore& rank : ranks) {
    const store::DynamicTable* sheet = FindSheet(rank, sheet_name);
    if (sheet != nullptr) columns.Add(sheet->columns);
  }
  columns.AppendTo(*table);
  for (const store::TraceStore& rank : ranks) {
    const store::DynamicTable* sheet = FindSheet(rank, sheet_name);
    if (sheet == nullptr) continue;
    table->parts.push_back(MakePart(*table, rank, nullptr, sheet->size(),
                                    columns.Views(sheet->columns, sheet->size())));
  }
  return table;
}

void AddSheets(const Ranks& ranks, std::vector<std::unique_ptr<SqlTable>>& tables) {
  UniqueNames names;
  for (const auto& table : tables) names.Add(table->name);
  std::vector<std::string> done;
  for (const store::TraceStore& rank : ranks) {
    for (const store::DynamicTable& sheet : rank.sheets) {
      if (std::find(done.begin(), done.end(), sheet.name) != done.end()) continue;
      done.push_back(sheet.name);
      tables.push_back(MakeSheetTable(ranks, sheet.name, names.Add(sheet.name)));
    }
  }
}

// The cells are in the order of the documented columns.
table::Table MakeRanksTable(const store::Job& job, const store::TableDoc& doc) {
  table::Table table{std::string(doc.name)};
  for (const store::ColumnDoc& column : doc.columns) {
    const bool is_text = column.type == "TEXT";
    table.AddColumn(column.name, is_text ? table::CellType::kText : table::CellType::kInt);
  }
  for (const store::TraceStore& rank : job.ranks) {
    const store::RankInfo& info = rank.info;
    const store::Extent extent = store::ComputeExtent(rank);
    size_t column = 0;
    table.AppendInt(column++, info.rank);
    table.AppendText(column++, store::SourceName(info.source));
    table.AppendText(column++, store::FormatName(info.format));
    table.AppendText(column++, info.level);
    table.AppendInt(column++, info.device);
    table.AppendText(column++, info.path);
    table.AppendInt(column++, extent.begin_ns);
    table.AppendInt(column++, extent.end_ns);
    table.AppendInt(column++, static_cast<int64_t>(rank.slices.size()));
    table.AppendInt(column++, static_cast<int64_t>(rank.kernels.size()));
  }
  return table;
}

std::unique_ptr<SqlTable> MakeRanks(const store::Job& job) {
  const store::TableDoc doc = store::DescribeTables().front();
  auto table = std::make_unique<SqlTable>();
  table->name = doc.name;
  table->doc = doc.doc;
  table->Show(MakeRanksTable(job, doc));
  for (size_t i = 0; i < doc.columns.size(); ++i) table->columns[i].doc = doc.columns[i].doc;
  return table;
}

ColumnView ViewOf(const table::Column& column) {
  static_assert(table::kNull == store::kNone);
  switch (column.type) {
    case table::CellType::kInt:
    case table::CellType::kTimeUs:
      return {ValueKind::kInt64, column.ints.data()};
    case table::CellType::kDouble:
      return {ValueKind::kDouble, column.doubles.data()};
    case table::CellType::kText:
      return {ValueKind::kString, column.texts.data()};
  }
  return {};
}

// The header of an analysis as a name that needs no quotes; see AnalysisTable.
std::string ColumnWord(const table::Column& column) {
  std::string header = column.name;
  const bool is_time = column.type == table::CellType::kTimeUs;
  if (is_time && header.ends_with("(us)")) header.resize(header.size() - 4);
  if (is_time && header.ends_with("_us")) header.resize(header.size() - 3);
  if (is_time) header += " ns";
  if (header.ends_with("(%)")) header.replace(header.size() - 3, 3, " percent");
  std::string word;
  for (const char c : FoldName(header)) {
    const bool is_letter = std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0;
    if (is_letter) {
      word += c;
    } else if (!word.empty() && word.back() != '_') {
      word += '_';
    }
  }
  if (word.ends_with('_')) word.pop_back();
  return word;
}

// Quoted unless it is a plain word.
std::string NameInSql(const std::string& name) {
  const auto is_word = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  const bool is_plain = std::all_of(name.begin(), name.end(), is_word) &&
                        !std::isdigit(static_cast<unsigned char>(name.front()));
  return is_plain ? name : table::QuoteSqlName(name);
}

// The columns that show an analysis.
std::vector<SqlColumn> ColumnsOf(const table::Table& computed) {
  std::vector<SqlColumn> columns;
  UniqueNames names;
  for (const table::Column& column : computed.columns()) {
    const ValueKind kind = ViewOf(column).kind;
    const bool is_integer = kind == ValueKind::kInt64;
    const bool is_text = kind == ValueKind::kString;
    columns.push_back({names.Add(ColumnWord(column)),
                       is_integer ? "INTEGER"
                       : is_text  ? "TEXT"
                                  : "REAL",
                       "", is_integer ? Pushdown::kInteger : Pushdown::kNone});
  }
  return columns;
}

std::string DescribeTable(SqlTable& table) {
  const std::string name = NameInSql(table.name);
  std::string out = table.doc.empty() ? "" : fmt::format("-- {}\n", table.doc);
  out += fmt::format("CREATE TABLE {} (\n", name);
  const std::vector<SqlColumn> columns = table.DescribeColumns();
  for (size_t i = 0; i < columns.size(); ++i) {
    const SqlColumn& column = columns[i];
    std::string line = "  " + NameInSql(column.name);
    if (!column.type.empty()) line += " " + std::string(column.type);
    if (i + 1 < columns.size()) line += ",";
    out += column.doc.empty() ? line : fmt::format("{:<34} -- {}", line, column.doc);
    out += '\n';
  }
  out += ");\n";
  for (const TableArg& arg : table.args)
    out += fmt::format("-- argument {}{} {}: {}\n", kArgPrefix, arg.name, arg.type, arg.doc);
  return out;
}

}  // namespace

void SqlTable::Prepare() {
  if (!compute || result) return;
  if (args.empty()) return Show(compute());
  if (columns.empty()) columns = ColumnsOf(compute_columns ? compute_columns() : compute());
}

Result<SqlTable*> SqlTable::Answer(const analysis::QuestionArgs& given) {
  Prepare();
  std::string key;
  for (const auto& [arg, value] : given.values) {
    key += arg + '=';
    std::visit([&](const auto& one) { key += fmt::format("{}", one); }, value);
    key += '\0';
  }
  std::unique_ptr<SqlTable>& answer = answers_[key];
  if (answer) return answer.get();
  SL_ASSIGN_OR_RETURN(table::Table computed, ask(given));
  auto made = std::make_unique<SqlTable>();
  made->Show(std::move(computed));
  // In the columns that were declared: an answer may lack some, or have more.
  Part& part = made->parts.front();
  std::vector<ColumnView> views;
  for (const SqlColumn& column : columns) {
    const auto same = std::find_if(
        made->columns.begin(), made->columns.end(),
        [&](const SqlColumn& one) { return one.name == column.name && one.type == column.type; });
    views.push_back(same == made->columns.end()
                        ? ColumnView{}
                        : part.columns[static_cast<size_t>(same - made->columns.begin())]);
  }
  part.columns = std::move(views);
  part.indexes.clear();
  part.indexes.resize(columns.size());
  made->columns = columns;
  answer = std::move(made);
  return answer.get();
}

std::vector<SqlColumn> SqlTable::DescribeColumns() {
  if (compute_columns && !result) return ColumnsOf(compute_columns());
  Prepare();
  return columns;
}

void SqlTable::Show(table::Table computed) {
  result = std::move(computed);
  columns = ColumnsOf(*result);
  Part part;
  part.rows = result->rows();
  for (const table::Column& column : result->columns()) part.columns.push_back(ViewOf(column));
  part.indexes.resize(part.columns.size());
  parts.push_back(std::move(part));
}

const ColumnView& SqlTable::View(Part& part, size_t column) {
  ColumnView& view = part.columns[column];
  if (view.kind == ValueKind::kDerived) view = columns[column].derive(*part.view);
  return view;
}

size_t SqlTable::rows() const {
  return std::accumulate(parts.begin(), parts.end(), size_t{0},
                         [](size_t sum, const Part& part) { return sum + part.rows; });
}

Result<Catalog> Catalog::Build(const store::Job& job, std::vector<AnalysisTable> analyses) {
  Catalog catalog;
  for (const store::TraceStore& rank : job.ranks) {
    catalog.views_.push_back(std::make_unique<RankView>(rank));
  }
  catalog.tables_.push_back(MakeRanks(job));
  AddStoreTables(job.ranks, catalog.views_, catalog.tables_);
  for (AnalysisTable& analysis : analyses) {
    if (catalog.Find(analysis.name) != nullptr) {
      return Error{ErrorCode::kInternal,
                   fmt::format("the analysis '{}' has the name of another table", analysis.name)};
    }
    auto table = std::make_unique<SqlTable>();
    table->name = std::move(analysis.name);
    table->doc = std::move(analysis.doc);
    table->compute = [&job, compute = analysis.compute] { return compute(job); };
    if (analysis.has_fixed_columns) {
      table->compute_columns = [compute = analysis.compute] { return compute(store::Job{}); };
    }
    table->args = std::move(analysis.args);
    if (!table->args.empty()) {
      table->ask = [&job, ask = std::move(analysis.ask)](const analysis::QuestionArgs& given) {
        return ask(job, given);
      };
    }
    catalog.tables_.push_back(std::move(table));
  }
  AddSheets(job.ranks, catalog.tables_);
  return catalog;
}

SqlTable* Catalog::Find(std::string_view name) const {
  const std::string folded = FoldName(name);
  for (const auto& table : tables_) {
    if (FoldName(table->name) == folded) return table.get();
  }
  return nullptr;
}

std::string Catalog::Describe() const {
  std::string out;
  for (const auto& table : tables_) {
    if (!out.empty()) out += '\n';
    out += DescribeTable(*table);
  }
  return out;
}

}  // namespace steplens::query
