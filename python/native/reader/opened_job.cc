#include "reader/opened_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "base/cancel.h"
#include "base/nearest_name.h"
#include "base/roots.h"
#include "open/losses.h"
#include "open/open.h"
#include "query/question_tables.h"
#include "readers/slice_args.h"

namespace steplens::python {
namespace {

using query::SqlTable;

Result<size_t> FindColumn(const SqlTable& table, std::string_view name) {
  std::vector<std::string> names;
  for (const query::SqlColumn& column : table.columns) {
    if (column.name == name) return names.size();
    names.push_back(column.name);
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("'{}' has no column '{}'{}; columns: {}", table.name, name,
                           DidYouMean(name, names), fmt::join(names, ", "))};
}

// What a table is by default: what was recorded, and the rank. Row numbers and what has to be
// computed come when they are named.
std::vector<size_t> StoredColumns(const SqlTable& table) {
  std::vector<size_t> out;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const query::SqlColumn& column = table.columns[i];
    const bool is_computed = column.derive != nullptr && !column.is_stored;
    if (!is_computed && column.pushdown != query::Pushdown::kRowNumber) out.push_back(i);
  }
  return out;
}

}  // namespace

// A call that is under way: a process that is forked meanwhile cannot use the job.
class OpenedJob::Working {
 public:
  explicit Working(OpenedJob& job) : job_(job) {
    const std::lock_guard lock(job.process_mutex_);
    ++job.working_;
  }
  ~Working() {
    const std::lock_guard lock(job_.process_mutex_);
    --job_.working_;
  }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  OpenedJob& job_;
};

OpenedJob::OpenedJob(store::Job job)
    : job_(std::move(job)), read_args_(readers::MakeArgsReader()), process_(::getpid()) {
  notes_ = job_.notes;
  for (std::string& loss : opening::Losses(job_)) notes_.push_back(std::move(loss));
}

Result<std::shared_ptr<OpenedJob>> OpenedJob::Open(const std::vector<std::string>& paths,
                                                   const OpenSettings& settings) {
  opening::OpenOptions options;
  options.threads = settings.threads;
  options.use_cache = settings.use_cache;
  for (const std::string& path : paths) AddRoot(path);
  SL_ASSIGN_OR_RETURN(store::Job job, opening::OpenJob(paths, options));
  if (settings.is_strict) {
    const std::vector<std::string> losses = opening::Losses(job);
    if (!losses.empty()) return Error{ErrorCode::kCorruptData, losses.front()};
  }
  return std::shared_ptr<OpenedJob>(new OpenedJob(std::move(job)));
}

Status OpenedJob::CheckProcess() {
  const std::lock_guard lock(process_mutex_);
  if (process_ != ::getpid()) {
    process_ = ::getpid();
    is_torn_ = is_torn_ || working_ > 0;
    working_ = 0;
  }
  if (!is_torn_) return {};
  return Error{ErrorCode::kUnsupported,
               "this process was forked while another thread was using the job; open it again"};
}

Result<query::Catalog*> OpenedJob::Tables() {
  const Working working(*this);
  const std::lock_guard lock(tables_mutex_);
  if (!tables_) {
    SL_ASSIGN_OR_RETURN(query::Catalog catalog, query::Catalog::Build(job_, {}));
    tables_.emplace(std::move(catalog));
  }
  return &*tables_;
}

Result<SqlTable*> OpenedJob::Table(std::string_view name) {
  SL_ASSIGN_OR_RETURN(query::Catalog* const catalog, Tables());
  SqlTable* const table = catalog->Find(name);
  if (table != nullptr) return table;
  std::vector<std::string> names;
  for (const auto& one : catalog->tables()) names.push_back(one->name);
  return Error{ErrorCode::kNotFound, fmt::format("there is no table '{}'{}; tables: {}", name,
                                                 DidYouMean(name, names), fmt::join(names, ", "))};
}

Result<std::vector<const Chunk*>> OpenedJob::Column(std::string_view table,
                                                    std::string_view column) {
  const Working working(*this);
  SL_ASSIGN_OR_RETURN(SqlTable* const found, Table(table));
  SL_ASSIGN_OR_RETURN(const size_t place, FindColumn(*found, column));
  std::vector<const Chunk*> out;
  for (size_t part = 0; part < found->parts.size(); ++part)
    out.push_back(&chunks_.Of(*found, part, place));
  return out;
}

Result<ArrowTable> OpenedJob::Export(std::string_view table,
                                     const std::vector<std::string>& columns,
                                     std::optional<int64_t> rank) {
  const Working working(*this);
  SL_ASSIGN_OR_RETURN(SqlTable* const found, Table(table));
  std::vector<size_t> places = columns.empty() ? StoredColumns(*found) : std::vector<size_t>();
  for (const std::string& column : columns) {
    SL_ASSIGN_OR_RETURN(const size_t place, FindColumn(*found, column));
    places.push_back(place);
  }
  ArrowTable out;
  out.owner = shared_from_this();
  for (size_t part = 0; part < found->parts.size(); ++part) {
    if (rank && found->parts[part].rank != *rank) continue;
    std::vector<const Chunk*>& batch = out.batches.emplace_back();
    for (const size_t place : places) batch.push_back(&chunks_.Of(*found, part, place));
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const std::string& name = found->columns[places[i]].name;
    const bool is_text = found->columns[places[i]].type == "TEXT";
    const ChunkType type = !out.batches.empty() ? out.batches.front()[i]->type()
                           : is_text            ? ChunkType::kText
                                                : ChunkType::kInt64;
    for (const auto& batch : out.batches) {
      if (batch[i]->type() == type) continue;
      return Error{ErrorCode::kUnsupported,
                   fmt::format("the column '{}' of '{}' differs in type between the ranks: take "
                               "it rank by rank",
                               name, table)};
    }
    out.fields.push_back({name, type});
  }
  return out;
}

Result<table::Table> OpenedJob::Query(const std::string& sql, size_t max_rows) {
  const Working working(*this);
  const std::lock_guard lock(query_mutex_);
  // A question that was interrupted inside of a query counts as one without rows from then on: what
  // does not come to its end, be it by an exception, leaves no database behind.
  std::unique_ptr<query::Database> database = std::move(database_);
  if (!database) {
    SL_ASSIGN_OR_RETURN(database, query::Database::Open(job_, query::QuestionTables(read_args_)));
  }
  Result<table::Table> result = database->Run(sql, query::Database::Limits{.max_rows = max_rows});
  const bool is_sound = result.ok() || result.error().code == ErrorCode::kInvalidArgument ||
                        result.error().code == ErrorCode::kNotFound;
  if (is_sound && !IsCancelled()) database_ = std::move(database);
  return result;
}

Result<analysis::QuestionAnswer> OpenedJob::Ask(const std::string& question,
                                                const analysis::QuestionArgs& args) {
  const Working working(*this);
  if (const analysis::Question* found = analysis::FindQuestion(question); found != nullptr)
    SL_RETURN_IF_ERROR(analysis::CheckArgs(*found, args));
  analysis::QuestionArgs asked = args;
  asked.values["origin_ns"] = int64_t{0};  // times as in the tables
  return analysis::AskQuestion(question, asked, job_, read_args_);
}

ResultTable::ResultTable(table::Table table, bool keeps_names) {
  shown_.name = table.name();
  shown_.Show(std::move(table));
  for (size_t i = 0; keeps_names && i < shown_.columns.size(); ++i)
    shown_.columns[i].name = shown_.result->columns()[i].name;
}

ArrowTable ExportResult(const std::shared_ptr<ResultTable>& result) {
  ArrowTable out;
  out.owner = result;
  std::vector<const Chunk*>& batch = out.batches.emplace_back();
  for (size_t i = 0; i < result->columns().size(); ++i) {
    batch.push_back(&result->Column(i));
    out.fields.push_back({result->columns()[i].name, batch.back()->type()});
  }
  return out;
}

}  // namespace steplens::python
