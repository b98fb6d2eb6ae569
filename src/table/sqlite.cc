#include "table/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "base/sqlite_on_file.h"

namespace steplens::table {
namespace {

namespace fs = std::filesystem;

struct Closer {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  void operator()(unsigned char* bytes) const { sqlite3_free(bytes); }
};
using Connection = std::unique_ptr<sqlite3, Closer>;
using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

Error SqliteError(sqlite3* db, std::string_view what) {
  return {ErrorCode::kInvalidArgument, fmt::format("{}: {}", what, sqlite3_errmsg(db))};
}

std::string_view SqlType(CellType type) {
  switch (type) {
    case CellType::kInt:
    case CellType::kTimeUs:
      return "INTEGER";
    case CellType::kDouble:
      return "REAL";
    case CellType::kText:
      return "TEXT";
  }
  return "";
}

void BindCell(sqlite3_stmt* insert, int parameter, const Column& column, size_t row) {
  switch (column.type) {
    case CellType::kInt:
    case CellType::kTimeUs:
      if (column.ints[row] != kNull) sqlite3_bind_int64(insert, parameter, column.ints[row]);
      return;
    case CellType::kDouble:  // SQLite takes NaN for NULL.
      sqlite3_bind_double(insert, parameter, column.doubles[row]);
      return;
    case CellType::kText: {
      const std::string& text = column.texts[row];
      sqlite3_bind_text64(insert, parameter, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
      return;
    }
  }
}

Error WriteError(sqlite3* db, const std::string& path) {
  return {ErrorCode::kIo, fmt::format("{}: cannot write: {}", path, sqlite3_errmsg(db))};
}

bool Execute(sqlite3* db, const std::string& sql) {
  return sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

Status InsertRows(sqlite3* db, const Table& table, const std::string& quoted_name) {
  std::string parameters;
  for (size_t i = 0; i < table.columns().size(); ++i) parameters += i == 0 ? "?" : ", ?";
  const std::string sql = fmt::format("INSERT INTO {} VALUES ({})", quoted_name, parameters);
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
    return SqliteError(db, table.name());
  }
  const Statement insert(prepared);
  for (size_t row = 0; row < table.rows(); ++row) {
    sqlite3_clear_bindings(prepared);
    int parameter = 0;
    for (const Column& column : table.columns()) BindCell(prepared, ++parameter, column, row);
    if (sqlite3_step(prepared) != SQLITE_DONE) return SqliteError(db, table.name());
    sqlite3_reset(prepared);
  }
  return {};
}

Status AddTable(sqlite3* db, const Table& table) {
  if (table.columns().empty()) return {};
  const std::string quoted_name = QuoteSqlName(table.name());
  std::string columns;
  for (const Column& column : table.columns()) {
    columns += columns.empty() ? "" : ", ";
    columns += QuoteSqlName(SqlColumnName(column)) + " ";
    columns += SqlType(column.type);
  }
  const std::string create = fmt::format("CREATE TABLE {} ({})", quoted_name, columns);
  if (sqlite3_exec(db, create.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return SqliteError(db, table.name());
  }
  return InsertRows(db, table, quoted_name);
}

// Indexes of the table; an index goes with its table when that is dropped.
bool AddIndexes(sqlite3* db, const Table& table, std::span<const SqlIndex> indexes) {
  for (const SqlIndex& index : indexes) {
    if (index.table != table.name()) continue;
    std::string name = table.name();
    std::string columns;
    for (const std::string& column : index.columns) {
      name += "_" + column;
      columns += (columns.empty() ? "" : ", ") + QuoteSqlName(column);
    }
    if (!Execute(db, fmt::format("CREATE INDEX {} ON {} ({})", QuoteSqlName(name),
                                 QuoteSqlName(table.name()), columns))) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string QuoteSqlName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c == '\0' ? ' ' : c;  // a NUL would end the statement
  }
  return quoted + '"';
}

std::string SqlColumnName(const Column& column) {
  std::string name = column.name;
  if (column.type != CellType::kTimeUs) return name;
  if (name.ends_with("(us)")) name.resize(name.size() - 4);
  return name + "(ns)";
}

Status UpdateSqlite(std::span<const Table* const> tables, const std::string& path,
                    std::span<const SqlIndex> indexes) {
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  std::error_code error;
  if (fs::exists(path, error)) SL_RETURN_IF_ERROR(CopySqlite(path, file));
  SL_ASSIGN_OR_RETURN(SqliteConnection db, OpenSqliteOn(file));
  sqlite3* const opened = db.get();
  if (!Execute(opened, "BEGIN")) return WriteError(opened, path);
  for (const Table* table : tables) {
    if (!Execute(opened, "DROP TABLE IF EXISTS " + QuoteSqlName(table->name())))
      return WriteError(opened, path);
    if (const Status status = AddTable(opened, *table); !status.ok())
      return WriteError(opened, path);
    if (!AddIndexes(opened, *table, indexes)) return WriteError(opened, path);
  }
  if (!Execute(opened, "COMMIT")) return WriteError(opened, path);
  if (sqlite3_close(db.release()) != SQLITE_OK)
    return Error{ErrorCode::kIo, path + ": cannot write the database"};
  return file.CommitDurably();
}

Status WriteSqlite(std::span<const Table> tables, const std::string& path) {
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  sqlite3* opened = nullptr;
  const int rc = sqlite3_open(":memory:", &opened);
  const Connection db(opened);
  if (rc != SQLITE_OK) return Error{ErrorCode::kInternal, "SQLite cannot be started"};
  sqlite3_exec(opened, "BEGIN", nullptr, nullptr, nullptr);
  for (const Table& table : tables) SL_RETURN_IF_ERROR(AddTable(opened, table));
  if (sqlite3_exec(opened, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) {
    return SqliteError(opened, path);
  }
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, Closer> bytes(sqlite3_serialize(opened, "main", &size, 0));
  if (!bytes && size > 0) return Error{ErrorCode::kIo, path + ": not enough memory"};
  SL_RETURN_IF_ERROR(file.Write(bytes.get(), static_cast<size_t>(size)));
  return file.CommitDurably();
}

}  // namespace steplens::table
