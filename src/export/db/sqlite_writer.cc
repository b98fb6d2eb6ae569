#include "export/db/sqlite_writer.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#include "base/cancel.h"
#include "base/sqlite_on_file.h"
#include "export/text/digits.h"

namespace steplens::exporting {
namespace {

// ---- The virtual table that SQLite reads waiting rows from. Its name and how many columns it has:
constexpr const char* kRowsTable = "steplens_rows";
constexpr size_t kMaxColumns = 40;

// What SQLite calls a virtual table and a cursor over it: the C structs come first.
struct RowsTable {
  sqlite3_vtab base{};
  const SqliteRows** source = nullptr;
};
struct RowsCursor {
  sqlite3_vtab_cursor base{};
  const SqliteRows* rows = nullptr;
  size_t row = 0;
};

RowsCursor& CursorOf(sqlite3_vtab_cursor* cursor) { return *reinterpret_cast<RowsCursor*>(cursor); }

int Connect(sqlite3* db, void* source, int, const char* const*, sqlite3_vtab** out, char**) {
  std::string declaration = "CREATE TABLE x(c0";
  for (size_t i = 1; i < kMaxColumns; ++i) declaration += ",c" + std::to_string(i);
  declaration += ')';
  if (const int code = sqlite3_declare_vtab(db, declaration.c_str()); code != SQLITE_OK)
    return code;
  auto* const table = new (std::nothrow) RowsTable;
  if (table == nullptr) return SQLITE_NOMEM;
  table->source = static_cast<const SqliteRows**>(source);
  *out = &table->base;
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<RowsTable*>(table);
  return SQLITE_OK;
}

int BestIndex(sqlite3_vtab*, sqlite3_index_info* info) {
  info->estimatedCost = 1;
  return SQLITE_OK;
}

int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
  auto* const cursor = new (std::nothrow) RowsCursor;
  if (cursor == nullptr) return SQLITE_NOMEM;
  cursor->rows = *reinterpret_cast<RowsTable*>(table)->source;
  *out = &cursor->base;
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete &CursorOf(cursor);
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
  CursorOf(cursor).row = 0;
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* cursor) {
  ++CursorOf(cursor).row;
  return SQLITE_OK;
}

int AtEnd(sqlite3_vtab_cursor* cursor) {
  const RowsCursor& self = CursorOf(cursor);
  return self.row >= self.rows->size() ? 1 : 0;
}

int ColumnAt(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  const RowsCursor& self = CursorOf(cursor);
  if (static_cast<size_t>(column) >= self.rows->columns) return SQLITE_OK;  // NULL
  const SqliteCell& cell =
      self.rows->cells[self.row * self.rows->columns + static_cast<size_t>(column)];
  switch (cell.kind) {
    case SqliteCell::Kind::kNull:
      break;
    case SqliteCell::Kind::kInt:
      sqlite3_result_int64(context, cell.number);
      break;
    case SqliteCell::Kind::kIntText: {
      char digits[kMaxNumberBytes];
      const auto size = static_cast<int>(PutInt(digits, cell.number) - digits);
      sqlite3_result_text(context, digits, size, SQLITE_TRANSIENT);
      break;
    }
    case SqliteCell::Kind::kReal:
      sqlite3_result_double(context, cell.real);
      break;
    case SqliteCell::Kind::kText:
      sqlite3_result_text64(context, cell.text, cell.size, SQLITE_STATIC, SQLITE_UTF8);
      break;
  }
  return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(CursorOf(cursor).row);
  return SQLITE_OK;
}

const sqlite3_module* Module() {
  static const sqlite3_module kModule = [] {
    sqlite3_module module{};
    module.xConnect = Connect;  // without xCreate it exists by its name alone
    module.xBestIndex = BestIndex;
    module.xDisconnect = Disconnect;
    module.xOpen = Open;
    module.xClose = Close;
    module.xFilter = Filter;
    module.xNext = Next;
    module.xEof = AtEnd;
    module.xColumn = ColumnAt;
    module.xRowid = RowId;
    return module;
  }();
  return &kModule;
}

}  // namespace

struct SqliteWriter::Impl {
  void Fail(std::string_view what) {
    if (!status.ok()) return;
    status = Error{ErrorCode::kIo, fmt::format("{}: {}: {}", path, what, sqlite3_errmsg(db))};
  }

  explicit Impl(AtomicFile created) : file(std::move(created)) {}

  AtomicFile file;
  const std::string path = file.path();
  SqliteConnection connection{};  // behind the file: goes first
  sqlite3* db = nullptr;          // the same
  bool has_table = false;
  std::vector<TableWriter::Impl*> tables;  // that may have rows waiting
  const SqliteRows* source = nullptr;      // what is being inserted
  Status status;
};

SqliteWriter::SqliteWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqliteWriter::~SqliteWriter() = default;
SqliteWriter::SqliteWriter(SqliteWriter&&) noexcept = default;

Result<SqliteWriter> SqliteWriter::Create(const std::string& path) {
  SL_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  SqliteWriter writer(std::make_unique<Impl>(std::move(file)));
  SL_ASSIGN_OR_RETURN(writer.impl_->connection, OpenSqliteOn(writer.impl_->file));
  writer.impl_->db = writer.impl_->connection.get();
  if (sqlite3_create_module_v2(writer.impl_->db, kRowsTable, Module(),
                               static_cast<void*>(&writer.impl_->source), nullptr) != SQLITE_OK)
    writer.impl_->Fail("cannot prepare");
  writer.Execute("PRAGMA page_size=4096");
  writer.Execute("PRAGMA locking_mode=EXCLUSIVE");
  // Rows are appended, so few pages are looked at again.
  writer.Execute("PRAGMA cache_size=-256");
  writer.Execute("BEGIN");
  if (!writer.impl_->status.ok()) return std::move(writer.impl_->status).error();
  return writer;
}

Status SqliteWriter::Commit() {
  Impl& self = *impl_;
  Execute("COMMIT");
  if (!self.status.ok()) return self.status;
  self.connection.reset();
  self.db = nullptr;
  if (!self.has_table) return {};
  return self.file.CommitDurably();
}

// A table and the rows that wait for it.
struct TableWriter::Impl {
  ~Impl() {
    Insert();
    sqlite3_finalize(statement);
    std::erase(writer->tables, this);
  }

  // The table exists from its first row on.
  bool Prepare() {
    if (statement != nullptr) return true;
    if (!writer->status.ok()) return false;
    const std::string create = fmt::format("CREATE TABLE {} ({})", name, columns);
    if (sqlite3_exec(writer->db, create.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      writer->Fail(name);
    writer->has_table = true;
    std::string insert = fmt::format("INSERT INTO {} SELECT c0", name);
    for (size_t i = 1; i < rows.columns; ++i) insert += fmt::format(",c{}", i);
    insert += fmt::format(" FROM {}", kRowsTable);
    if (!writer->status.ok()) return false;
    if (sqlite3_prepare_v2(writer->db, insert.c_str(), -1, &statement, nullptr) != SQLITE_OK)
      writer->Fail(name);
    return statement != nullptr;
  }

  void Insert() {
    if (writer->status.ok() && IsCancelled())
      writer->status = Error{ErrorCode::kCancelled, "interrupted"};
    if (rows.size() > 0 && Prepare()) {
      writer->source = &rows;
      if (sqlite3_step(statement) != SQLITE_DONE) writer->Fail(name);
      sqlite3_reset(statement);
    }
    rows.Clear();
  }

  SqliteWriter::Impl* writer = nullptr;
  std::string name;
  std::string columns;
  SqliteRows rows;
  sqlite3_stmt* statement = nullptr;
};

TableWriter::TableWriter(std::unique_ptr<Impl> impl, SqliteRows* rows)
    : impl_(std::move(impl)), rows_(rows) {}
TableWriter::~TableWriter() = default;
TableWriter::TableWriter(TableWriter&&) noexcept = default;

TableWriter SqliteWriter::Table(std::string_view name, std::string_view columns) {
  auto impl = std::make_unique<TableWriter::Impl>();
  impl->writer = impl_.get();
  impl->name = name;
  impl->columns = columns;
  impl->rows.columns = 1 + static_cast<size_t>(std::count(columns.begin(), columns.end(), ','));
  impl_->tables.push_back(impl.get());
  SqliteRows* const rows = &impl->rows;
  return TableWriter(std::move(impl), rows);
}

void TableWriter::Insert() {
  impl_->Insert();
  is_made_ = true;
}

TableWriter& TableWriter::Real(double value) {
  if (std::isnan(value)) return Null();
  SqliteCell& cell = rows_->cells.emplace_back();
  cell.kind = SqliteCell::Kind::kReal;
  cell.real = value;
  return *this;
}

TableWriter& TableWriter::Text(std::string_view value) {
  return KeptText(rows_->texts.emplace_back(value));
}

TableWriter& TableWriter::KeptText(std::string_view value) {
  SqliteCell& cell = rows_->cells.emplace_back();
  cell.kind = SqliteCell::Kind::kText;
  cell.text = value.data() == nullptr ? "" : value.data();
  cell.size = static_cast<uint32_t>(value.size());
  return *this;
}

void SqliteWriter::Execute(const std::string& sql) {
  for (TableWriter::Impl* table : impl_->tables) table->Insert();
  if (!impl_->status.ok()) return;
  if (sqlite3_exec(impl_->db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    impl_->Fail(sql.substr(0, 60));
}

}  // namespace steplens::exporting
