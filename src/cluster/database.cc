#include "cluster/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "base/file.h"
#include "base/sqlite_on_file.h"
#include "table/sqlite.h"

namespace steplens::cluster {
namespace {

namespace fs = std::filesystem;
using table::CellType;
using table::Column;
using table::QuoteSqlName;
using table::Table;

struct Closer {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, Closer>;
using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

Error DbError(sqlite3* db, const std::string& path) {
  return {ErrorCode::kIo, fmt::format("{}: {}", path, sqlite3_errmsg(db))};
}

Result<Statement> Prepare(sqlite3* db, const std::string& path, const std::string& sql) {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
    return DbError(db, path);
  return Statement(prepared);
}

Status Execute(sqlite3* db, const std::string& path, const std::string& sql) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return DbError(db, path);
  return {};
}

// visit() for each row of a query.
Status ForEachRow(sqlite3* db, const std::string& path, const std::string& sql,
                  const std::function<void(sqlite3_stmt*)>& visit) {
  SL_ASSIGN_OR_RETURN(const Statement rows, Prepare(db, path, sql));
  int state = SQLITE_ROW;
  while ((state = sqlite3_step(rows.get())) == SQLITE_ROW) visit(rows.get());
  if (state != SQLITE_DONE) return DbError(db, path);
  return {};
}

std::string TextAt(sqlite3_stmt* row, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  if (text == nullptr) return "";
  return {text, static_cast<size_t>(sqlite3_column_bytes(row, column))};
}

CellType TypeOf(const char* declared) {
  const std::string_view type = declared == nullptr ? "" : declared;
  if (type == "INTEGER") return CellType::kInt;
  return type == "REAL" || type == "NUMERIC" ? CellType::kDouble : CellType::kText;
}

void AppendCell(Column& column, sqlite3_stmt* row, int index) {
  const bool is_null = sqlite3_column_type(row, index) == SQLITE_NULL;
  if (column.type == CellType::kInt) {
    column.ints.push_back(is_null ? table::kNull : sqlite3_column_int64(row, index));
  } else if (column.type == CellType::kDouble) {
    column.doubles.push_back(is_null ? std::numeric_limits<double>::quiet_NaN()
                                     : sqlite3_column_double(row, index));
  } else {
    column.texts.push_back(TextAt(row, index));
  }
}

void BindCell(sqlite3_stmt* insert, int parameter, const Column& column, size_t row) {
  if (column.type == CellType::kText) {
    const std::string& text = column.texts[row];
    sqlite3_bind_text64(insert, parameter, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  } else if (column.type == CellType::kDouble) {
    sqlite3_bind_double(insert, parameter, column.doubles[row]);  // NaN is NULL
  } else if (column.ints[row] == table::kNull) {
    sqlite3_bind_null(insert, parameter);
  } else {
    sqlite3_bind_int64(insert, parameter, column.ints[row]);
  }
}

// Creates the table (under `name`, in SQL) and fills it.
Status InsertTable(sqlite3* db, const std::string& path, const Table& table,
                   const std::string& name) {
  std::string columns;
  std::string parameters;
  for (const Column& column : table.columns()) {
    const char* type = column.type == CellType::kText     ? "TEXT"
                       : column.type == CellType::kDouble ? "REAL"
                                                          : "INTEGER";
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", QuoteSqlName(column.name), type);
    parameters += parameters.empty() ? "?" : ", ?";
  }
  SL_RETURN_IF_ERROR(Execute(db, path, fmt::format("CREATE TABLE {} ({})", name, columns)));
  SL_ASSIGN_OR_RETURN(
      const Statement insert,
      Prepare(db, path, fmt::format("INSERT INTO {} VALUES ({})", name, parameters)));
  for (size_t row = 0; row < table.rows(); ++row) {
    int parameter = 0;
    for (const Column& column : table.columns()) BindCell(insert.get(), ++parameter, column, row);
    if (sqlite3_step(insert.get()) != SQLITE_DONE) return DbError(db, path);
    sqlite3_reset(insert.get());
  }
  return {};
}

bool HasTable(sqlite3* db, const std::string& name) {
  return sqlite3_table_column_metadata(db, nullptr, name.c_str(), nullptr, nullptr, nullptr,
                                       nullptr, nullptr, nullptr) == SQLITE_OK;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

Result<Table> ReadDbTable(const std::string& path, const std::string& name) {
  const Error missing{ErrorCode::kNotFound, fmt::format("{}: no table {}", path, name)};
  if (!fs::is_regular_file(path)) return Error{ErrorCode::kNotFound, path + ": no such file"};
  sqlite3* opened = nullptr;
  const int state = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const Connection db(opened);
  if (state != SQLITE_OK) return DbError(opened, path);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  if (!HasTable(opened, name)) return missing;
  SL_ASSIGN_OR_RETURN(const Statement shape,
                      Prepare(opened, path, "SELECT * FROM " + QuoteSqlName(name)));
  std::vector<Column> columns;
  for (int i = 0; i < sqlite3_column_count(shape.get()); ++i) {
    Column& column = columns.emplace_back();
    column.name = sqlite3_column_name(shape.get(), i);
    column.type = TypeOf(sqlite3_column_decltype(shape.get(), i));
  }
  SL_RETURN_IF_ERROR(
      ForEachRow(opened, path, "SELECT * FROM " + QuoteSqlName(name), [&](sqlite3_stmt* row) {
        for (size_t i = 0; i < columns.size(); ++i)
          AppendCell(columns[i], row, static_cast<int>(i));
      }));
  Table table(name);
  for (Column& column : columns) table.AddColumn(std::move(column));
  return table;
}

struct DatabaseCopy::Impl {
  std::string target;
  fs::perms permissions{};  // of the original
  AtomicFile file;
  SqliteConnection db{};  // behind the file: goes first

  Status Run(const std::string& sql) { return Execute(db.get(), target, sql); }
};

DatabaseCopy::DatabaseCopy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DatabaseCopy::~DatabaseCopy() = default;
DatabaseCopy::DatabaseCopy(DatabaseCopy&&) noexcept = default;

Result<DatabaseCopy> DatabaseCopy::Make(const std::string& source, const std::string& target) {
  std::error_code error;
  for (const char* suffix : {"-wal", "-journal"}) {
    if (fs::file_size(source + suffix, error) > 0 && !error) {
      return Error{
          ErrorCode::kIo,
          fmt::format("{}: another program has it open or did not close it ({}{} is there)", source,
                      source, suffix)};
    }
  }
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(target));
  SL_RETURN_IF_ERROR(CopySqlite(source, file));
  auto impl = std::make_unique<Impl>(
      Impl{target, fs::status(source, error).permissions(), std::move(file)});
  SL_ASSIGN_OR_RETURN(impl->db, OpenSqliteOn(impl->file));
  SL_RETURN_IF_ERROR(impl->Run("BEGIN"));
  return DatabaseCopy(std::move(impl));
}

Status DatabaseCopy::ReplaceTable(const Table& table) {
  const std::string name = "main." + QuoteSqlName(table.name());
  SL_RETURN_IF_ERROR(impl_->Run("DROP TABLE IF EXISTS " + name));
  return InsertTable(impl_->db.get(), impl_->target, table, name);
}

Status DatabaseCopy::SetColumn(const Table& values) {
  constexpr std::string_view kValues = "temp.steplens_values";
  const std::string name = "main." + QuoteSqlName(values.name());
  const std::string filled = QuoteSqlName(values.columns().back().name);
  SL_RETURN_IF_ERROR(impl_->Run(fmt::format("DROP TABLE IF EXISTS {}", kValues)));
  SL_RETURN_IF_ERROR(InsertTable(impl_->db.get(), impl_->target, values, std::string(kValues)));
  const std::string first_key = QuoteSqlName(values.columns().front().name);
  SL_RETURN_IF_ERROR(
      impl_->Run(fmt::format("CREATE INDEX temp.steplens_key ON steplens_values ({})", first_key)));
  const bool is_there =
      sqlite3_table_column_metadata(impl_->db.get(), "main", values.name().c_str(),
                                    values.columns().back().name.c_str(), nullptr, nullptr, nullptr,
                                    nullptr, nullptr) == SQLITE_OK;
  if (!is_there)
    SL_RETURN_IF_ERROR(impl_->Run(fmt::format("ALTER TABLE {} ADD COLUMN {} TEXT", name, filled)));
  std::string condition = fmt::format("v.{0} = t.{0}", first_key);
  for (size_t i = 1; i + 1 < values.columns().size(); ++i) {
    condition += fmt::format(" AND (v.{0} IS NULL OR v.{0} = t.{0})",
                             QuoteSqlName(values.columns()[i].name));
  }
  return impl_->Run(fmt::format("UPDATE {} AS t SET {} = (SELECT v.{} FROM {} AS v WHERE {})", name,
                                filled, filled, kValues, condition));
}

Result<std::vector<int64_t>> DatabaseCopy::InternStrings(const std::vector<std::string>& texts) {
  sqlite3* db = impl_->db.get();
  std::unordered_map<std::string, int64_t> ids;
  int64_t next = 0;
  SL_RETURN_IF_ERROR(
      ForEachRow(db, impl_->target, "SELECT id, value FROM STRING_IDS", [&](sqlite3_stmt* row) {
        const int64_t id = sqlite3_column_int64(row, 0);
        ids.try_emplace(TextAt(row, 1), id);
        next = std::max(next, id + 1);
      }));
  SL_ASSIGN_OR_RETURN(
      const Statement insert,
      Prepare(db, impl_->target, "INSERT INTO STRING_IDS (id, value) VALUES (?, ?)"));
  std::vector<int64_t> out;
  for (const std::string& text : texts) {
    const auto [place, is_new] = ids.try_emplace(text, next);
    out.push_back(place->second);
    if (!is_new) continue;
    sqlite3_bind_int64(insert.get(), 1, next++);
    sqlite3_bind_text64(insert.get(), 2, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    if (sqlite3_step(insert.get()) != SQLITE_DONE) return DbError(db, impl_->target);
    sqlite3_reset(insert.get());
  }
  return out;
}

Result<std::map<std::string, int64_t>> DatabaseCopy::ReadEnum(const std::string& table) {
  std::map<std::string, int64_t> ids;
  if (!HasTable(impl_->db.get(), table)) return ids;
  SL_RETURN_IF_ERROR(ForEachRow(
      impl_->db.get(), impl_->target, "SELECT id, name FROM " + QuoteSqlName(table),
      [&](sqlite3_stmt* row) { ids[Lower(TextAt(row, 1))] = sqlite3_column_int64(row, 0); }));
  return ids;
}

Status DatabaseCopy::Commit() {
  SL_RETURN_IF_ERROR(impl_->Run("COMMIT"));
  impl_->db.reset();
  SL_RETURN_IF_ERROR(impl_->file.Flush());
  SL_RETURN_IF_ERROR(impl_->file.Commit());
  std::error_code error;
  fs::permissions(impl_->target, impl_->permissions | fs::perms::owner_write, error);
  return {};
}

}  // namespace steplens::cluster
