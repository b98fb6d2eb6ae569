#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

struct sqlite3_stmt;

namespace steplens::readers {

// A user's SQLite file, read only. The file is opened as immutable: no lock, no -wal or -shm beside
// it, works on a read-only mount. What a damaged or hostile file can cost is bounded by its size:
// steps of SQLite's virtual machine, bytes of text handed out, and the length of one value. Views
// and virtual tables do not exist here. Not thread safe.
class SqliteFile {
 public:
  static Result<SqliteFile> Open(const std::string& path);
  ~SqliteFile();
  SqliteFile(SqliteFile&&) noexcept;
  SqliteFile& operator=(SqliteFile&&) = delete;

  const std::string& name() const;  // base name, for messages
  uint64_t size_bytes() const;
  const std::vector<std::string>& tables() const;  // real tables only
  bool HasTable(std::string_view table) const;
  // Name of a -wal or -journal file with content beside the database, whose rows are not visible;
  // empty if none.
  const std::string& unmerged_log() const;
  // An upper guess of the rows of a table, cheap and never more than the file can hold; for
  // Reserve.
  size_t EstimateRows(std::string_view table);

 private:
  friend class Scan;
  struct Impl;
  explicit SqliteFile(std::unique_ptr<Impl> impl);
  Result<sqlite3_stmt*> Prepare(const std::string& sql);
  Status ReadTableNames();
  std::unique_ptr<Impl> impl_;
};

// One pass over some columns of a table, in the order of the file.
//
// Columns are given by name: "startNs" must exist, "?deviceId" may be absent and is then NULL in
// every row, "!opType" as well, and is remembered as missing; "?blockNum|blockDim" takes the first
// of the names that exists.
class Scan {
 public:
  // An error if the table has no column for one of the names that must exist (kNotFound), or cannot
  // be read.
  static Result<Scan> Open(SqliteFile& file, std::string_view table,
                           std::span<const std::string_view> columns);
  ~Scan();
  Scan(Scan&& other) noexcept;
  Scan& operator=(Scan&&) = delete;

  // Goes to the next row; false at the end or when reading failed (see status).
  bool Next();
  // What ended the pass early: damage (kCorruptData) or cancellation (kCancelled).
  Status status() const;
  uint64_t row_number() const { return row_number_; }  // 1 for the first row

  // The value of a column of the current row. NULL gives store::kNone, NaN, or the empty text.
  // Integers are taken from any storage class that holds one; a value that is none counts as NULL
  // and is remembered as the bad cell.
  int64_t Int(size_t column);
  double Double(size_t column);
  // Valid until Next. Numbers give their decimal text.
  std::string_view Text(size_t column);

  // Columns that every writer has and this table has not.
  const std::vector<std::string>& missing_columns() const { return missing_columns_; }
  uint64_t bad_cells() const { return bad_cells_; }
  const std::string& first_bad_cell() const {
    return first_bad_cell_;
  }  // "row 3, column 'startNs': 'abc'"

 private:
  Scan(SqliteFile::Impl& file, sqlite3_stmt* statement, std::vector<std::string> missing_columns)
      : file_(&file), statement_(statement), missing_columns_(std::move(missing_columns)) {}
  void NoteBadCell(size_t column);

  SqliteFile::Impl* file_;  // owned by the SqliteFile, which must outlive the scan
  sqlite3_stmt* statement_;
  std::vector<std::string> missing_columns_;
  uint64_t row_number_ = 0;
  uint64_t bad_cells_ = 0;
  std::string first_bad_cell_;
  std::optional<Error> error_;
};

}  // namespace steplens::readers
