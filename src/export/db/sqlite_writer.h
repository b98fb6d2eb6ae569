#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "export/db/sqlite_rows.h"

namespace steplens::exporting {

class TableWriter;

// A new SQLite file, written in one transaction beside its name and renamed by Commit: it appears
// whole or not at all. Equal calls give equal bytes. Errors are kept for Commit. Not thread safe.
class SqliteWriter {
 public:
  static Result<SqliteWriter> Create(const std::string& path);
  ~SqliteWriter();
  SqliteWriter(SqliteWriter&&) noexcept;
  SqliteWriter& operator=(SqliteWriter&&) = delete;

  void Execute(const std::string& sql);
  // Creates the table when its first row comes: "NAME (column TYPE, ...)".
  TableWriter Table(std::string_view name, std::string_view columns);
  // The file, or none at all if it would have no table.
  Status Commit();

 private:
  friend class TableWriter;
  struct Impl;
  explicit SqliteWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Appends rows to one table: values from left to right, then EndRow. Rows gather and are inserted
// together; all of them are there when the table writer is gone, or the next Execute runs. Must not
// outlive its writer.
class TableWriter {
 public:
  ~TableWriter();
  TableWriter(TableWriter&&) noexcept;
  TableWriter& operator=(TableWriter&&) = delete;

  // store::kNone is NULL
  TableWriter& Int(int64_t value) {
    if (value == store::kNone) return Null();
    return PutNumber(SqliteCell::Kind::kInt, value);
  }
  // Digits as a text.
  TableWriter& IntText(int64_t value) { return PutNumber(SqliteCell::Kind::kIntText, value); }
  TableWriter& Real(double value);  // NaN is NULL
  TableWriter& Text(std::string_view value);
  TableWriter& KeptText(std::string_view value);  // not copied: must outlive the table writer
  TableWriter& Null() {
    rows_->cells.emplace_back();
    return *this;
  }
  void EndRow() {
    if (rows_->cells.size() + rows_->columns > SqliteRows::kCells || !is_made_) Insert();
  }

 private:
  friend class SqliteWriter;
  struct Impl;
  TableWriter(std::unique_ptr<Impl> impl, SqliteRows* rows);
  TableWriter& PutNumber(SqliteCell::Kind kind, int64_t value) {
    SqliteCell& cell = rows_->cells.emplace_back();
    cell.kind = kind;
    cell.number = value;
    return *this;
  }
  void Insert();

  std::unique_ptr<Impl> impl_;
  SqliteRows* rows_;      // of impl_
  bool is_made_ = false;  // whether the table exists: from its first row on
};

}  // namespace steplens::exporting
