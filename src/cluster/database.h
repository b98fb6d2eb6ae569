#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "table/table.h"

namespace steplens::cluster {

// A table of an SQLite file: integer, real and text columns as they are declared. kNotFound if the
// file or the table is not there.
Result<table::Table> ReadDbTable(const std::string& path, const std::string& name);

// A copy of an SQLite file that is changed and then takes the place of `target` at once. If
// anything fails, or it is not committed, nothing is left of it.
class DatabaseCopy {
 public:
  // A database that another program has open, or did not close, is refused: part of it is
  // elsewhere.
  static Result<DatabaseCopy> Make(const std::string& source, const std::string& target);
  ~DatabaseCopy();
  DatabaseCopy(DatabaseCopy&&) noexcept;
  DatabaseCopy& operator=(DatabaseCopy&&) = delete;

  // Puts the table in, in place of one of its name.
  Status ReplaceTable(const table::Table& table);
  // Fills the last column of `values` into the table of the same name, as a new text column; rows
  // are found by the other columns, where an empty cell fits everything. The rest gets NULL.
  Status SetColumn(const table::Table& values);
  // The ids of texts in STRING_IDS; what is not there is added.
  Result<std::vector<int64_t>> InternStrings(const std::vector<std::string>& texts);
  // Names (lower case) and ids of a table like ENUM_HCCL_DATA_TYPE; empty if there is none.
  Result<std::map<std::string, int64_t>> ReadEnum(const std::string& table);

  Status Commit();

 private:
  struct Impl;
  explicit DatabaseCopy(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace steplens::cluster
