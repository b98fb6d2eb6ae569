#include "export/db/sqlite_writer.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "export/text/digits.h"
#include "store/tables.h"

namespace steplens::exporting {

struct SqliteWriter::Impl {
  ~Impl() {
    sqlite3_close(db);
    if (!temporary.empty()) ::unlink(temporary.c_str());
  }

  void Fail(std::string_view what) {
    if (!status.ok()) return;
    status = Error{ErrorCode::kIo, fmt::format("{}: {}: {}", path, what, sqlite3_errmsg(db))};
  }

  std::string path;
  std::string temporary;  // empty once it is renamed
  sqlite3* db = nullptr;
  bool has_table = false;
  Status status;
};

SqliteWriter::SqliteWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqliteWriter::~SqliteWriter() = default;
SqliteWriter::SqliteWriter(SqliteWriter&&) noexcept = default;

Result<SqliteWriter> SqliteWriter::Create(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->temporary = path + ".XXXXXX";
  const int fd = ::mkstemp(impl->temporary.data());
  if (fd < 0) {
    const int error = errno;
    impl->temporary.clear();
    return Error{ErrorCode::kIo, fmt::format("{}: cannot create: {}", path, std::strerror(error))};
  }
  ::close(fd);
  SqliteWriter writer(std::move(impl));
  // One thread writes, so SQLite need not lock at every value.
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(writer.impl_->temporary.c_str(), &writer.impl_->db, kFlags, nullptr) !=
      SQLITE_OK)
    writer.impl_->Fail("cannot open");
  // Nobody else sees the file before it is whole, so nothing has to be undone or waited for.
  writer.Execute("PRAGMA page_size=4096");
  writer.Execute("PRAGMA journal_mode=OFF");
  writer.Execute("PRAGMA synchronous=OFF");
  writer.Execute("PRAGMA locking_mode=EXCLUSIVE");
  // Rows are appended, so few pages are looked at again; it is also what an index is sorted in.
  writer.Execute("PRAGMA cache_size=-8192");
  writer.Execute("BEGIN");
  if (!writer.impl_->status.ok()) return std::move(writer.impl_->status).error();
  return writer;
}

void SqliteWriter::Execute(const std::string& sql) {
  if (!impl_->status.ok()) return;
  if (sqlite3_exec(impl_->db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    impl_->Fail(sql.substr(0, 60));
}

Status SqliteWriter::Commit() {
  Impl& self = *impl_;
  Execute("COMMIT");
  if (!self.status.ok()) return self.status;
  sqlite3_close(self.db);
  self.db = nullptr;
  if (!self.has_table) return {};
  if (::chmod(self.temporary.c_str(), 0644) != 0 ||
      std::rename(self.temporary.c_str(), self.path.c_str()) != 0) {
    const int error = errno;
    return Error{ErrorCode::kIo,
                 fmt::format("{}: cannot write: {}", self.path, std::strerror(error))};
  }
  self.temporary.clear();
  return {};
}

struct TableWriter::Impl {
  ~Impl() { sqlite3_finalize(statement); }

  // The table exists from its first row on.
  bool Prepare() {
    if (statement != nullptr) return true;
    if (!writer->status.ok()) return false;
    const std::string create = fmt::format("CREATE TABLE {} ({})", name, columns);
    if (sqlite3_exec(writer->db, create.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      writer->Fail(name);
    writer->has_table = true;
    const auto count = std::count(columns.begin(), columns.end(), ',');
    std::string insert = fmt::format("INSERT INTO {} VALUES (?", name);
    for (long i = 0; i < count; ++i) insert += ",?";
    insert += ')';
    if (!writer->status.ok()) return false;
    if (sqlite3_prepare_v2(writer->db, insert.c_str(), -1, &statement, nullptr) != SQLITE_OK)
      writer->Fail(name);
    return statement != nullptr;
  }
  int Next() { return ++column; }
  void BindText(std::string_view value, void (*life)(void*)) {
    sqlite3_bind_text64(statement, Next(), value.data(), value.size(), life, SQLITE_UTF8);
  }

  SqliteWriter::Impl* writer = nullptr;
  std::string name;
  std::string columns;
  sqlite3_stmt* statement = nullptr;
  int column = 0;
  static constexpr size_t kNumberTexts = 4;
  char number_texts[kNumberTexts][kMaxNumberBytes];  // of IntText, until the row ends
};

TableWriter::TableWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TableWriter::~TableWriter() = default;
TableWriter::TableWriter(TableWriter&&) noexcept = default;

TableWriter SqliteWriter::Table(std::string_view name, std::string_view columns) {
  auto impl = std::make_unique<TableWriter::Impl>();
  impl->writer = impl_.get();
  impl->name = name;
  impl->columns = columns;
  return TableWriter(std::move(impl));
}

TableWriter& TableWriter::Int(int64_t value) {
  if (value == store::kNone) return Null();
  if (impl_->Prepare()) sqlite3_bind_int64(impl_->statement, impl_->Next(), value);
  return *this;
}

TableWriter& TableWriter::Real(double value) {
  if (std::isnan(value)) return Null();
  if (impl_->Prepare()) sqlite3_bind_double(impl_->statement, impl_->Next(), value);
  return *this;
}

TableWriter& TableWriter::Text(std::string_view value) {
  if (impl_->Prepare()) impl_->BindText(value, SQLITE_TRANSIENT);
  return *this;
}

TableWriter& TableWriter::KeptText(std::string_view value) {
  if (impl_->Prepare()) impl_->BindText(value, SQLITE_STATIC);
  return *this;
}

TableWriter& TableWriter::IntText(int64_t value) {
  if (!impl_->Prepare()) return *this;
  const auto place = static_cast<size_t>(impl_->column) % Impl::kNumberTexts;
  char* const text = impl_->number_texts[place];
  return KeptText({text, static_cast<size_t>(PutInt(text, value) - text)});
}

TableWriter& TableWriter::Null() {
  if (impl_->Prepare()) sqlite3_bind_null(impl_->statement, impl_->Next());
  return *this;
}

void TableWriter::EndRow() {
  impl_->column = 0;
  if (impl_->statement == nullptr) return;
  if (sqlite3_step(impl_->statement) != SQLITE_DONE) impl_->writer->Fail(impl_->name);
  sqlite3_reset(impl_->statement);
}

}  // namespace steplens::exporting
