#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/args_reader.h"
#include "analysis/question/question.h"
#include "base/status.h"
#include "query/catalog.h"
#include "query/database.h"
#include "reader/arrow.h"
#include "reader/chunk.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::python {

struct OpenSettings {
  size_t threads = 0;
  bool use_cache = true;
  bool is_strict = false;
};

// A job that Python has opened, with what its questions share. For any thread. Arrays and streams
// hold it: it ends with the last of them.
class OpenedJob : public std::enable_shared_from_this<OpenedJob> {
 public:
  static Result<std::shared_ptr<OpenedJob>> Open(const std::vector<std::string>& paths,
                                                 const OpenSettings& settings);

  const store::Job& job() const { return job_; }
  // What was left out and why, one sentence each.
  const std::vector<std::string>& notes() const { return notes_; }
  // kUnsupported in a process that was forked while another thread was at work here: what that
  // held is never given back.
  Status CheckProcess();

  // The tables of docs/schema.md and the sheets of the input. What they are made of stays as it is.
  Result<query::Catalog*> Tables();
  Result<query::SqlTable*> Table(std::string_view name);
  // The chunks of a column, one per part.
  Result<std::vector<const Chunk*>> Column(std::string_view table, std::string_view column);
  // Columns of a table, all that are stored if `columns` is empty, of one rank or of all.
  Result<ArrowTable> Export(std::string_view table, const std::vector<std::string>& columns,
                            std::optional<int64_t> rank);

  Result<table::Table> Query(const std::string& sql, size_t max_rows);
  Result<analysis::QuestionAnswer> Ask(const std::string& question,
                                       const analysis::QuestionArgs& args);

 private:
  class Working;
  explicit OpenedJob(store::Job job);

  store::Job job_;
  std::vector<std::string> notes_;
  analysis::ArgsReader read_args_;

  std::mutex tables_mutex_;  // while the catalog is made
  std::optional<query::Catalog> tables_;
  ChunkStore chunks_;

  std::mutex query_mutex_;  // a database is for one thread at a time
  std::unique_ptr<query::Database> database_;

  std::mutex process_mutex_;  // guards the next three
  pid_t process_;
  int working_ = 0;  // calls that are under way
  bool is_torn_ = false;
};

// A result: a table, and its columns as SQL names them.
class ResultTable {
 public:
  // `keeps_names`: those of a query are as the query has them.
  ResultTable(table::Table table, bool keeps_names);

  const table::Table& table() const { return *shown_.result; }
  const std::vector<query::SqlColumn>& columns() const { return shown_.columns; }
  const Chunk& Column(size_t column) { return chunks_.Of(shown_, 0, column); }

 private:
  query::SqlTable shown_;
  ChunkStore chunks_;
};

ArrowTable ExportResult(const std::shared_ptr<ResultTable>& result);

}  // namespace steplens::python
