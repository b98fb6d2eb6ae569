#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "query/analysis_table.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::query {

// A value of a result row. `text` is valid until the row after it is found.
struct Cell {
  enum class Kind : uint8_t { kNull, kInt, kDouble, kText };
  Kind kind = Kind::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string_view text{};
};

// Takes a result while it is found. An error that it returns ends the query.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // Once, before the first row, and when there is none.
  virtual Status Begin(const std::vector<std::string>& names) = 0;
  virtual Status Row(std::span<const Cell> cells) = 0;
};

// SQL over a job and over analyses. Tables are read in place. Queries can only read: no writes, no
// files, no settings. For one thread at a time; the job must outlive it and must not change.
class Database {
 public:
  static Result<std::unique_ptr<Database>> Open(const store::Job& job,
                                                std::vector<AnalysisTable> analyses = {});
  ~Database();

  static constexpr size_t kMaxResultBytes = size_t{2} << 30;

  // When a query is to end early.
  struct Limits {
    size_t max_result_bytes = kMaxResultBytes;
    size_t max_rows = SIZE_MAX;           // further rows are left out, without an error
    int max_text_bytes = 100'000'000;     // of any value on the way; a longer one is an error
    int max_pattern_bytes = 50'000;       // of LIKE and GLOB
    std::function<bool()> should_stop{};  // asked every few milliseconds; may be empty
  };

  // Runs one statement. A column is kInt if all its values are integers, kDouble if they are
  // numbers, else kText; times stay integer nanoseconds. NULL is the empty cell. Stops with
  // kCancelled soon after RequestCancel, and with an error when the result outgrows
  // `max_result_bytes`.
  Result<table::Table> Run(std::string_view sql, size_t max_result_bytes = kMaxResultBytes) {
    return Run(sql, Limits{.max_result_bytes = max_result_bytes});
  }
  // The same; kCancelled also when `should_stop` says so.
  Result<table::Table> Run(std::string_view sql, const Limits& limits);

  // The same, row by row as SQLite finds them: a result of any size takes no memory here. Of the
  // limits, `should_stop` and `max_rows` count.
  Status Stream(std::string_view sql, RowSink& sink, const Limits& limits);

  // Every table and column with its meaning, in the form of CREATE TABLE statements.
  std::string Schema() const;

 private:
  struct Impl;
  struct Checked;
  Result<Checked> Check(std::string_view sql, const Limits& limits);
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace steplens::query
