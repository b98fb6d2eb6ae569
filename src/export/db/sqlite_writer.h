#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

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

// Appends rows to one table: values from left to right, then EndRow. Must not outlive its writer.
class TableWriter {
 public:
  ~TableWriter();
  TableWriter(TableWriter&&) noexcept;
  TableWriter& operator=(TableWriter&&) = delete;

  TableWriter& Int(int64_t value);  // store::kNone is NULL
  TableWriter& Real(double value);  // NaN is NULL
  TableWriter& Text(std::string_view value);
  TableWriter& KeptText(std::string_view value);  // not copied: must live until EndRow
  TableWriter& IntText(int64_t value);            // digits as a text; in the first four columns
  TableWriter& Null();
  void EndRow();

 private:
  friend class SqliteWriter;
  struct Impl;
  explicit TableWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace steplens::exporting
