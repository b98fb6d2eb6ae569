#include "readers/ascend_db/sqlite_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/cancel.h"
#include "base/file.h"
#include "base/memory_limit.h"
#include "base/number.h"
#include "store/tables.h"

namespace steplens::readers {
namespace {

// Longer texts than this are not found in any deliverable (the longest are stacks and environment
// JSON).
constexpr int kMaxValueBytes = 16 << 20;
constexpr int kStepsPerCheck = 100'000;

// "file:" URI of a path: every byte that could mean something in a URI is escaped.
std::string ToUri(const std::string& path) {
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '_' || c == '-';
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri + "?mode=ro&immutable=1";
}

std::string QuoteName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string BaseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// SQLite's names are case-insensitive in ASCII.
bool SameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         sqlite3_strnicmp(a.data(), b.data(), static_cast<int>(a.size())) == 0;
}

}  // namespace

struct SqliteFile::Impl {
  sqlite3* db = nullptr;
  std::string name;
  std::string unmerged_log;
  uint64_t size_bytes = 0;
  std::vector<std::string> tables;
  // Work left. An honest file needs less than one step and one byte of text per byte of file and
  // pass.
  int64_t checks_left = 0;
  int64_t text_bytes_left = 0;

  ~Impl() { sqlite3_close_v2(db); }
  void SetBudget();
  void Harden();
  Error ReadError(int code) const;
};

namespace {

// Called by SQLite every kStepsPerCheck steps; non-zero stops the statement. Pages of a damaged
// file may point back to each other, and then a pass would never end.
int OnSteps(void* context) {
  auto& checks_left = *static_cast<int64_t*>(context);
  return IsCancelled() || --checks_left < 0 ? 1 : 0;
}

}  // namespace

void SqliteFile::Impl::SetBudget() {
  const auto size = static_cast<int64_t>(std::min<uint64_t>(size_bytes, uint64_t{1} << 50));
  checks_left = (8 * size) / kStepsPerCheck + 50;
  text_bytes_left = 8 * size + (1 << 20);
  sqlite3_progress_handler(db, kStepsPerCheck, OnSteps, &checks_left);
}

// The schema of a file is input too: no code of it runs, nothing is cached from it without a check.
void SqliteFile::Impl::Harden() {
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 50);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0",
               nullptr, nullptr, nullptr);
}

Error SqliteFile::Impl::ReadError(int code) const {
  if (IsCancelled()) return Error{ErrorCode::kCancelled, name + ": reading was cancelled"};
  if (code == SQLITE_INTERRUPT) {
    return Error{ErrorCode::kCorruptData,
                 name + ": the file is damaged: its pages lead in circles"};
  }
  if (code == SQLITE_NOMEM) return OutOfMemory().During(name);
  if (code == SQLITE_NOTADB) {
    return Error{ErrorCode::kCorruptData, name + ": not an SQLite database"};
  }
  const bool refused = code == SQLITE_CANTOPEN || code == SQLITE_PERM || code == SQLITE_AUTH;
  return Error{refused ? ErrorCode::kIo : ErrorCode::kCorruptData,
               fmt::format("{}: {}", name, sqlite3_errmsg(db))};
}

SqliteFile::SqliteFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqliteFile::~SqliteFile() = default;
SqliteFile::SqliteFile(SqliteFile&&) noexcept = default;

const std::string& SqliteFile::name() const { return impl_->name; }
uint64_t SqliteFile::size_bytes() const { return impl_->size_bytes; }
const std::vector<std::string>& SqliteFile::tables() const { return impl_->tables; }
const std::string& SqliteFile::unmerged_log() const { return impl_->unmerged_log; }

Result<SqliteFile> SqliteFile::Open(const std::string& path) {
  SL_ASSIGN_OR_RETURN(const FileStamp stamp, StatFile(path));
  // SQLite would wait for a pipe, and says little of a directory.
  SL_ASSIGN_OR_RETURN([[maybe_unused]] const std::string first_byte, ReadFileRange(path, 0, 1));
  auto impl = std::make_unique<Impl>();
  impl->name = BaseName(path);
  impl->size_bytes = stamp.size_bytes;
  if (stamp.size_bytes == 0)
    return Error{ErrorCode::kCorruptData, impl->name + ": the database is empty (0 bytes)"};
  for (const char* suffix : {"-wal", "-journal"}) {
    const auto log = StatFile(path + suffix);
    if (log.ok() && log->size_bytes > 0) impl->unmerged_log = impl->name + suffix;
  }
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(ToUri(path).c_str(), &impl->db, flags, nullptr);
  if (code != SQLITE_OK) return impl->ReadError(code);
  impl->SetBudget();
  impl->Harden();
  SqliteFile file(std::move(impl));
  SL_RETURN_IF_ERROR(file.ReadTableNames());
  return file;
}

Result<sqlite3_stmt*> SqliteFile::Prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(impl_->db, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return impl_->ReadError(code);
  return statement;
}

Status SqliteFile::ReadTableNames() {
  SL_ASSIGN_OR_RETURN(
      sqlite3_stmt * statement,
      Prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND "
              "sql NOT LIKE 'CREATE VIRTUAL%'"));
  int code = SQLITE_OK;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    const unsigned char* table = sqlite3_column_text(statement, 0);
    if (table != nullptr) impl_->tables.emplace_back(reinterpret_cast<const char*>(table));
  }
  sqlite3_finalize(statement);
  if (code != SQLITE_DONE) return impl_->ReadError(code);
  return {};
}

bool SqliteFile::HasTable(std::string_view table) const {
  return std::any_of(impl_->tables.begin(), impl_->tables.end(),
                     [&](const std::string& name) { return SameName(name, table); });
}

size_t SqliteFile::EstimateRows(std::string_view table) {
  if (!HasTable(table)) return 0;
  const auto statement = Prepare("SELECT max(rowid) FROM " + QuoteName(table));
  if (!statement.ok()) return 0;
  int64_t last = 0;
  if (sqlite3_step(*statement) == SQLITE_ROW) last = sqlite3_column_int64(*statement, 0);
  sqlite3_finalize(*statement);
  constexpr uint64_t kMinRowBytes = 12;
  return static_cast<size_t>(
      std::clamp<int64_t>(last, 0, static_cast<int64_t>(impl_->size_bytes / kMinRowBytes)));
}

namespace {

std::vector<std::string> ColumnNames(sqlite3_stmt* statement) {
  std::vector<std::string> names;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const char* name = sqlite3_column_name(statement, i);
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

// The SQL for one column given as "name", "?name", "!name" or "?name|other"; nothing if it must
// exist and does not. `missing` gets the name of an absent column that is expected.
std::optional<std::string> ColumnSql(std::string_view given,
                                     const std::vector<std::string>& existing,
                                     std::vector<std::string>& missing) {
  const bool expected = given.starts_with('!');
  const bool optional = expected || given.starts_with('?');
  if (optional) given.remove_prefix(1);
  const std::string_view names = given;
  while (!given.empty()) {
    const std::string_view name = given.substr(0, given.find('|'));
    for (const std::string& column : existing) {
      if (SameName(column, name)) return QuoteName(column);
    }
    given.remove_prefix(std::min(given.size(), name.size() + 1));
  }
  if (!optional) return std::nullopt;
  if (expected && std::find(missing.begin(), missing.end(), names) == missing.end()) {
    missing.emplace_back(names);
  }
  return "NULL";
}

}  // namespace

Result<Scan> Scan::Open(SqliteFile& file, std::string_view table,
                        std::span<const std::string_view> columns) {
  // NOT INDEXED: rows in the order of the table itself, whatever indexes a file claims to have.
  const std::string from = " FROM " + QuoteName(table) + " NOT INDEXED";
  SL_ASSIGN_OR_RETURN(sqlite3_stmt * all, file.Prepare("SELECT *" + from));
  const std::vector<std::string> existing = ColumnNames(all);
  sqlite3_finalize(all);
  std::string sql = "SELECT ";
  std::vector<std::string> missing;
  for (const std::string_view column : columns) {
    const auto part = ColumnSql(column, existing, missing);
    if (!part) {
      return Error{ErrorCode::kNotFound,
                   fmt::format("{}: table '{}' has no column '{}' (found: {})", file.name(), table,
                               column, fmt::join(existing, ", "))};
    }
    if (sql.size() > 7) sql += ", ";
    sql += *part;
  }
  SL_ASSIGN_OR_RETURN(sqlite3_stmt * statement, file.Prepare(sql + from));
  return Scan(*file.impl_, statement, std::move(missing));
}

Scan::~Scan() { sqlite3_finalize(statement_); }

Scan::Scan(Scan&& other) noexcept
    : file_(other.file_),
      statement_(std::exchange(other.statement_, nullptr)),
      missing_columns_(std::move(other.missing_columns_)),
      row_number_(other.row_number_),
      bad_cells_(other.bad_cells_),
      first_bad_cell_(std::move(other.first_bad_cell_)),
      error_(std::move(other.error_)) {}

bool Scan::Next() {
  if (error_) return false;
  if (file_->text_bytes_left < 0) {
    error_ = Error{ErrorCode::kCorruptData,
                   file_->name + ": the file is damaged: it holds more text than bytes"};
    return false;
  }
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    ++row_number_;
    return true;
  }
  if (code != SQLITE_DONE) error_ = file_->ReadError(code);
  return false;
}

Status Scan::status() const {
  if (error_) return *error_;
  return {};
}

void Scan::NoteBadCell(size_t column) {
  if (bad_cells_++ > 0) return;
  const auto index = static_cast<int>(column);
  const char* name = sqlite3_column_name(statement_, index);
  const bool is_blob = sqlite3_column_type(statement_, index) == SQLITE_BLOB;
  first_bad_cell_ =
      fmt::format("row {}, column '{}': {}", row_number_, name == nullptr ? "" : name,
                  is_blob ? "a blob" : "'" + std::string(Text(column).substr(0, 80)) + "'");
}

int64_t Scan::Int(size_t column) {
  sqlite3_value* value = sqlite3_column_value(statement_, static_cast<int>(column));
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return sqlite3_value_int64(value);
    case SQLITE_NULL:
      return store::kNone;
    case SQLITE_FLOAT: {
      const double number = sqlite3_value_double(value);
      if (std::abs(number) < 9.2e18) return static_cast<int64_t>(number);
      break;
    }
    case SQLITE_TEXT: {
      const std::string_view text = Text(column);
      int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error == std::errc() && end == text.data() + text.size()) return number;
      if (const auto parsed = ParseInt64(text)) return *parsed;
      if (Trim(text).empty()) return store::kNone;
      break;
    }
    default:
      break;
  }
  NoteBadCell(column);
  return store::kNone;
}

double Scan::Double(size_t column) {
  sqlite3_value* value = sqlite3_column_value(statement_, static_cast<int>(column));
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      return store::NotKnown<double>();
    case SQLITE_INTEGER:
    case SQLITE_FLOAT: {
      const double number = sqlite3_value_double(value);
      if (std::isfinite(number)) return number;
      break;
    }
    case SQLITE_TEXT:
      if (const auto parsed = ParseDouble(Text(column))) return *parsed;
      break;
    default:
      break;
  }
  NoteBadCell(column);
  return store::NotKnown<double>();
}

std::string_view Scan::Text(size_t column) {
  sqlite3_value* value = sqlite3_column_value(statement_, static_cast<int>(column));
  if (sqlite3_value_type(value) == SQLITE_BLOB) {
    NoteBadCell(column);
    return {};
  }
  const unsigned char* text = sqlite3_value_text(value);
  const int size = sqlite3_value_bytes(value);
  if (text == nullptr || size <= 0) return {};
  file_->text_bytes_left -= size;
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(size)};
}

}  // namespace steplens::readers
