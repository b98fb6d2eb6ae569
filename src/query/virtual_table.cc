#include "query/virtual_table.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "query/table_scan.h"
#include "table/sqlite.h"

// The virtual table interface of SQLite (sqlite.org/vtab.html) over TableScan. Conditions that a
// scan can apply are pushed down as a superset: SQLite checks every row again, so that its own
// rules of type conversion decide whatever is compared with what.

namespace steplens::query {
namespace {

// What a module is registered with.
struct Binding {
  SqlTable& table;
  bool& is_declaring;
};

struct VirtualTable : sqlite3_vtab {
  SqlTable* table = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
  SqlTable* table = nullptr;     // whose rows are read: the answer to the arguments, if there are
  analysis::QuestionArgs given;  // the arguments
  std::optional<TableScan> scan;
};

SqlTable& TableOf(sqlite3_vtab* vtab) { return *static_cast<VirtualTable*>(vtab)->table; }
TableScan& ScanOf(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor)->scan; }

// ---- connecting

int Connect(sqlite3* db, void* aux, int, const char* const*, sqlite3_vtab** vtab, char** message) {
  auto& [table, is_declaring] = *static_cast<Binding*>(aux);
  table.Prepare();
  std::string columns;
  for (const SqlColumn& column : table.columns) {
    columns += columns.empty() ? "" : ", ";
    columns += fmt::format("{} {}", table::QuoteSqlName(column.name), column.type);
  }
  for (const TableArg& arg : table.args)
    columns += fmt::format(", {}{} {} HIDDEN", kArgPrefix, arg.name, arg.type);
  is_declaring = true;
  const int rc = sqlite3_declare_vtab(db, fmt::format("CREATE TABLE x({})", columns).c_str());
  is_declaring = false;
  if (rc != SQLITE_OK) {
    *message = sqlite3_mprintf("table %s: %s", table.name.c_str(), sqlite3_errmsg(db));
    return rc;
  }
  auto created = std::make_unique<VirtualTable>();
  created->table = &table;
  *vtab = created.release();
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* vtab) {
  delete static_cast<VirtualTable*>(vtab);
  return SQLITE_OK;
}

// ---- planning

// A condition as it travels from BestIndex to Filter, as text that EXPLAIN QUERY PLAN shows: "3>=".
struct Comparison {
  size_t column = 0;
  std::string_view op;
};

std::string_view OperatorText(unsigned char op) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return "=";
    case SQLITE_INDEX_CONSTRAINT_GT:
      return ">";
    case SQLITE_INDEX_CONSTRAINT_GE:
      return ">=";
    case SQLITE_INDEX_CONSTRAINT_LT:
      return "<";
    case SQLITE_INDEX_CONSTRAINT_LE:
      return "<=";
    default:
      return "";
  }
}

bool CanPush(const SqlTable& table, sqlite3_index_info* info, int i) {
  const auto& constraint = info->aConstraint[i];
  if (!constraint.usable || constraint.iColumn < 0) return false;
  if (static_cast<size_t>(constraint.iColumn) >= table.columns.size()) return false;
  if (OperatorText(constraint.op).empty()) return false;
  const Pushdown pushdown = table.columns[static_cast<size_t>(constraint.iColumn)].pushdown;
  if (pushdown != Pushdown::kText) return pushdown != Pushdown::kNone;
  return constraint.op == SQLITE_INDEX_CONSTRAINT_EQ &&
         std::strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

// What a plan will cost, from the size of the table and the conditions pushed down.
class CostEstimate {
 public:
  explicit CostEstimate(const SqlTable& table)
      : parts_(std::max(1.0, static_cast<double>(table.parts.size()))),
        rows_(static_cast<double>(table.rows())),
        read_(rows_) {}

  void Narrow(Pushdown pushdown, bool is_equality) {
    if (!is_equality) {
      rows_ /= 4;
      if (pushdown == Pushdown::kRank || pushdown == Pushdown::kRowNumber) read_ /= 4;
    } else if (pushdown == Pushdown::kRank) {
      rows_ /= parts_;
      read_ /= parts_;
    } else if (pushdown == Pushdown::kRowNumber) {
      rows_ = std::min(rows_, parts_);
      read_ = rows_;
    } else {  // A value is taken to be shared by that many rows; an index finds them.
      rows_ = std::sqrt(rows_);
      read_ = std::min(read_, rows_);
    }
  }

  double rows() const { return std::max(1.0, rows_); }
  // In rows handed to SQLite; looking at one and passing over it is much cheaper.
  double cost() const { return parts_ + rows_ + read_ / 20; }

 private:
  double parts_;
  double rows_;
  double read_;
};

// Scans go by rank and, within a rank, by id. Ranks that repeat or go down give up the claim.
bool IsNaturalOrder(const SqlTable& table, const sqlite3_index_info& info) {
  const bool ranks_ascend =
      std::adjacent_find(table.parts.begin(), table.parts.end(), [](const Part& a, const Part& b) {
        return a.rank >= b.rank;
      }) == table.parts.end();
  if (info.nOrderBy == 0 || !ranks_ascend) return false;
  const auto is_ascending = [&](int i, Pushdown wanted) {
    const auto& term = info.aOrderBy[i];
    return term.desc == 0 && term.iColumn >= 0 &&
           static_cast<size_t>(term.iColumn) < table.columns.size() &&
           table.columns[static_cast<size_t>(term.iColumn)].pushdown == wanted;
  };
  int next = 0;
  if (is_ascending(next, Pushdown::kRank)) {
    ++next;
  } else if (table.parts.size() > 1) {
    return false;
  }
  if (next < info.nOrderBy && is_ascending(next, Pushdown::kRowNumber)) ++next;
  return next == info.nOrderBy;
}

// Whether a condition gives an argument of the table.
bool IsArgument(const SqlTable& table, const sqlite3_index_info::sqlite3_index_constraint& one) {
  return one.iColumn >= 0 && static_cast<size_t>(one.iColumn) >= table.columns.size() &&
         one.op == SQLITE_INDEX_CONSTRAINT_EQ;
}

int BestIndex(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  const SqlTable& table = TableOf(vtab);
  CostEstimate estimate(table);
  std::string plan;
  int arguments = 0;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (IsArgument(table, constraint)) {
      // An argument that another table of a join gives is known only behind that table.
      if (!constraint.usable) return SQLITE_CONSTRAINT;
      info->aConstraintUsage[i].argvIndex = ++arguments;
      info->aConstraintUsage[i].omit = 1;
      plan += fmt::format("{}= ", constraint.iColumn);
      continue;
    }
    if (!CanPush(table, info, i)) continue;
    const auto column = static_cast<size_t>(constraint.iColumn);
    info->aConstraintUsage[i].argvIndex = ++arguments;
    plan += fmt::format("{}{} ", column, OperatorText(constraint.op));
    estimate.Narrow(table.columns[column].pushdown, constraint.op == SQLITE_INDEX_CONSTRAINT_EQ);
  }
  info->idxStr = sqlite3_mprintf("%s", plan.c_str());
  info->needToFreeIdxStr = 1;
  info->estimatedCost = estimate.cost();
  info->estimatedRows = std::llround(estimate.rows());
  info->orderByConsumed = IsNaturalOrder(table, *info) ? 1 : 0;
  return info->idxStr != nullptr ? SQLITE_OK : SQLITE_NOMEM;
}

// The next comparison of a plan written by BestIndex.
Comparison TakeComparison(std::string_view& plan) {
  Comparison comparison;
  const auto [op, error] =
      std::from_chars(plan.data(), plan.data() + plan.size(), comparison.column);
  plan.remove_prefix(static_cast<size_t>(op - plan.data()));
  const size_t end = plan.find(' ');
  comparison.op = plan.substr(0, end);
  plan.remove_prefix(end + 1);
  return comparison;
}

// ---- conditions with values

constexpr int64_t kMinInt = std::numeric_limits<int64_t>::min();
constexpr int64_t kMaxInt = std::numeric_limits<int64_t>::max();

IntRange NothingIn(size_t column) { return {column, kMaxInt, kMinInt}; }

IntRange RangeOf(const Comparison& comparison, int64_t value) {
  const auto& [column, op] = comparison;
  if (op == "=") return {column, value, value};
  if (op == ">=") return {column, value, kMaxInt};
  if (op == "<=") return {column, kMinInt, value};
  if (op == ">") return value == kMaxInt ? NothingIn(column) : IntRange{column, value + 1, kMaxInt};
  return value == kMinInt ? NothingIn(column) : IntRange{column, kMinInt, value - 1};
}

// The integers that compare with a real number as wanted.
IntRange RangeOf(const Comparison& comparison, double value) {
  const auto& [column, op] = comparison;
  constexpr double kTwoTo63 = 9223372036854775808.0;
  const bool is_less = op.front() == '<';
  if (value >= kTwoTo63) return is_less ? IntRange{column, kMinInt, kMaxInt} : NothingIn(column);
  if (value < -kTwoTo63) {
    return op.front() == '>' ? IntRange{column, kMinInt, kMaxInt} : NothingIn(column);
  }
  const double floor = std::floor(value);
  const auto below = static_cast<int64_t>(floor);
  if (floor == value) return RangeOf(comparison, below);
  if (op == "=") return NothingIn(column);
  return RangeOf({column, is_less ? "<=" : ">"}, below);
}

// Adds the condition as far as it can be told what SQLite will find equal or less: texts against
// integer columns and the like are left to it altogether.
void AddCondition(RowFilter& filter, Pushdown pushdown, const Comparison& comparison,
                  sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) {
    filter.matches_nothing = true;
  } else if (pushdown == Pushdown::kText && type == SQLITE_TEXT) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    filter.texts.push_back(
        {comparison.column, std::string(text, static_cast<size_t>(sqlite3_value_bytes(value)))});
  } else if (pushdown != Pushdown::kText && type == SQLITE_INTEGER) {
    filter.ranges.push_back(RangeOf(comparison, int64_t{sqlite3_value_int64(value)}));
  } else if (pushdown != Pushdown::kText && type == SQLITE_FLOAT) {
    filter.ranges.push_back(RangeOf(comparison, sqlite3_value_double(value)));
  }
}

// ---- reading

int OpenCursor(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  *cursor = std::make_unique<Cursor>().release();
  return SQLITE_OK;
}

int CloseCursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// NULL leaves the argument to its default.
void GiveArgument(const TableArg& arg, sqlite3_value* value, analysis::QuestionArgs& given) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      return;
    case SQLITE_INTEGER:
      given.values[arg.name] = int64_t{sqlite3_value_int64(value)};
      return;
    case SQLITE_FLOAT:
      given.values[arg.name] = sqlite3_value_double(value);
      return;
    default:
      given.values[arg.name] = std::string(reinterpret_cast<const char*>(sqlite3_value_text(value)),
                                           static_cast<size_t>(sqlite3_value_bytes(value)));
  }
}

int Filter(sqlite3_vtab_cursor* cursor, int, const char* plan_text, int count,
           sqlite3_value** values) {
  SqlTable& table = TableOf(cursor->pVtab);
  Cursor& reader = *static_cast<Cursor*>(cursor);
  reader.table = &table;
  reader.given.values.clear();
  RowFilter filter;
  std::string_view plan = plan_text;
  for (int i = 0; i < count; ++i) {
    const Comparison comparison = TakeComparison(plan);
    if (comparison.column >= table.columns.size()) {
      GiveArgument(table.args[comparison.column - table.columns.size()], values[i], reader.given);
    } else {
      AddCondition(filter, table.columns[comparison.column].pushdown, comparison, values[i]);
    }
  }
  if (table.ask) {
    const Result<SqlTable*> answer = table.Answer(reader.given);
    if (!answer.ok()) {
      sqlite3_free(cursor->pVtab->zErrMsg);
      cursor->pVtab->zErrMsg =
          sqlite3_mprintf("%s: %s", table.name.c_str(), answer.error().message.c_str());
      return answer.error().code == ErrorCode::kCancelled ? SQLITE_INTERRUPT : SQLITE_ERROR;
    }
    reader.table = *answer;
  }
  reader.scan.emplace(*reader.table, std::move(filter));
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* cursor) {
  ScanOf(cursor).Next();
  return SQLITE_OK;
}

int IsAtEnd(sqlite3_vtab_cursor* cursor) { return ScanOf(cursor).done() ? 1 : 0; }

void ReturnText(sqlite3_context* context, std::string_view text) {
  // Texts live as long as the job or the analysis: no copy. A null pointer would be NULL, not ''.
  const char* bytes = text.empty() ? "" : text.data();
  sqlite3_result_text64(context, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

// The argument as it was given; NULL if it was not.
void ReturnArgument(const TableArg& arg, const analysis::QuestionArgs& given,
                    sqlite3_context* context) {
  const auto value = given.values.find(arg.name);
  if (value == given.values.end()) return;
  if (const auto* integer = std::get_if<int64_t>(&value->second)) {
    sqlite3_result_int64(context, *integer);
  } else if (const auto* real = std::get_if<double>(&value->second)) {
    sqlite3_result_double(context, *real);
  } else {
    const std::string& text = std::get<std::string>(value->second);
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
}

// Hands a cell to SQLite; returning nothing is NULL.
int ReadCell(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  const Cursor& reader = *static_cast<Cursor*>(cursor);
  const TableScan& scan = *reader.scan;
  Part& part = scan.part();
  const size_t row = scan.row();
  const size_t columns = reader.table->columns.size();
  const auto number = static_cast<size_t>(column);
  if (number >= columns) {
    ReturnArgument(TableOf(cursor->pVtab).args[number - columns], reader.given, context);
    return SQLITE_OK;
  }
  const ColumnView& view = reader.table->View(part, number);
  switch (view.kind) {
    case ValueKind::kRowNumber:
      sqlite3_result_int64(context, static_cast<int64_t>(row));
      break;
    case ValueKind::kRank:
      sqlite3_result_int64(context, part.rank);
      break;
    case ValueKind::kInt64: {
      const auto value = view.Load<int64_t>(row);
      if (value != store::kNone) sqlite3_result_int64(context, value);
      break;
    }
    case ValueKind::kUint32:
      sqlite3_result_int64(context, view.Load<uint32_t>(row));
      break;
    case ValueKind::kRowId: {
      const auto value = view.Load<uint32_t>(row);
      if (value != store::kNoId) sqlite3_result_int64(context, value);
      break;
    }
    case ValueKind::kDouble:
      sqlite3_result_double(context, view.Load<double>(row));
      break;
    case ValueKind::kText:
      ReturnText(context, part.store->Text(view.Load<StringId>(row)));
      break;
    case ValueKind::kString:
      ReturnText(context, static_cast<const std::string*>(view.data)[row]);
      break;
    case ValueKind::kAbsent:
    case ValueKind::kDerived:
      break;
  }
  return SQLITE_OK;
}

int ReadRowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* rowid) {
  const TableScan& scan = ScanOf(cursor);
  *rowid = static_cast<sqlite3_int64>(scan.part_number() << 32 | scan.row());
  return SQLITE_OK;
}

// A callback that ends in words SQLite knows: an exception must not cross its frames.
template <auto kCallback>
struct Guarded;
template <typename... Args, int (*kCallback)(Args...)>
struct Guarded<kCallback> {
  static int Call(Args... args) {
    try {
      return kCallback(args...);
    } catch (const std::bad_alloc&) {
      return SQLITE_NOMEM;
    }
  }
};

// Without xCreate the tables cannot be created, only used; without xUpdate they cannot be written.
const sqlite3_module& Module() {
  static const sqlite3_module module = [] {
    sqlite3_module m = {};
    m.xConnect = Guarded<Connect>::Call;
    m.xBestIndex = Guarded<BestIndex>::Call;
    m.xDisconnect = Disconnect;
    m.xOpen = Guarded<OpenCursor>::Call;
    m.xClose = CloseCursor;
    m.xFilter = Guarded<Filter>::Call;
    m.xNext = Guarded<Next>::Call;
    m.xEof = IsAtEnd;
    m.xColumn = Guarded<ReadCell>::Call;
    m.xRowid = ReadRowid;
    return m;
  }();
  return module;
}

}  // namespace

Status RegisterTables(sqlite3* db, const Catalog& catalog, bool& is_declaring) {
  for (const auto& table : catalog.tables()) {
    auto binding = std::make_unique<Binding>(Binding{*table, is_declaring});
    const auto destroy = [](void* aux) { delete static_cast<Binding*>(aux); };
    // SQLite owns the binding from here on, also when it fails.
    const int rc =
        sqlite3_create_module_v2(db, table->name.c_str(), &Module(), binding.release(), destroy);
    if (rc != SQLITE_OK) {
      return Error{ErrorCode::kInternal,
                   fmt::format("table '{}': {}", table->name, sqlite3_errmsg(db))};
    }
  }
  return {};
}

Status ListTables(sqlite3* db, const Catalog& catalog, bool& is_declaring) {
  std::string sql = "PRAGMA writable_schema = ON;";
  for (const auto& table : catalog.tables()) {
    const std::string name = table::QuoteSqlName(table->name);
    char* row = sqlite3_mprintf("INSERT INTO sqlite_master VALUES('table', %Q, %Q, 0, %Q);",
                                table->name.c_str(), table->name.c_str(),
                                fmt::format("CREATE VIRTUAL TABLE {0} USING {0}", name).c_str());
    sql += row;
    sqlite3_free(row);
  }
  sql += "PRAGMA writable_schema = RESET";
  is_declaring = true;
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  const int rc = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  is_declaring = false;
  if (rc == SQLITE_OK) return {};
  return Error{ErrorCode::kInternal, fmt::format("list of tables: {}", sqlite3_errmsg(db))};
}

}  // namespace steplens::query
