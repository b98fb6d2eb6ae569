#include "query/database.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/cancel.h"
#include "base/memory_limit.h"
#include "base/nearest_name.h"
#include "query/catalog.h"
#include "query/result_table.h"
#include "query/unique_names.h"
#include "query/virtual_table.h"

namespace steplens::query {
namespace {

struct Closer {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, Closer>;
using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

constexpr int kOpsBetweenCancelChecks = 10'000;

// Bounds on what a statement can make SQLite do, far above what a person writes.
constexpr std::pair<int, int> kLimits[] = {
    {SQLITE_LIMIT_SQL_LENGTH, 1'000'000}, {SQLITE_LIMIT_EXPR_DEPTH, 200},
    {SQLITE_LIMIT_COMPOUND_SELECT, 100},  {SQLITE_LIMIT_VDBE_OP, 1'000'000},
    {SQLITE_LIMIT_ATTACHED, 0},           {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
};

// Names in double quotes are names, never texts: a mistyped header must not compare as a string.
constexpr std::pair<int, int> kSettings[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
    {SQLITE_DBCONFIG_DQS_DML, 0},
    {SQLITE_DBCONFIG_DQS_DDL, 0},
};

constexpr std::array<std::string_view, 3> kReadOnlyPragmas = {"table_info", "table_xinfo",
                                                              "table_list"};
constexpr std::array<std::string_view, 2> kForbiddenFunctions = {"load_extension",
                                                                 "fts3_tokenizer"};

template <size_t N>
bool IsOneOf(const std::array<std::string_view, N>& names, const char* name) {
  return name != nullptr && std::find(names.begin(), names.end(), FoldName(name)) != names.end();
}

// Everything but reading is refused.
int Authorize(void* is_declaring, int action, const char* first, const char* second, const char*,
              const char*) {
  if (*static_cast<const bool*>(is_declaring)) return SQLITE_OK;
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return IsOneOf(kForbiddenFunctions, second) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
      return IsOneOf(kReadOnlyPragmas, first) ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

// `should_stop` is the std::function of the query that runs, null between queries.
int StopIfCancelled(void* should_stop) {
  const auto* ask = *static_cast<const std::function<bool()>* const*>(should_stop);
  return IsCancelled() || (ask != nullptr && *ask && (*ask)()) ? 1 : 0;
}

Error Cancelled() { return {ErrorCode::kCancelled, "the query was cancelled"}; }

Error InvalidQuery(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

Error OnlyReading() {
  return InvalidQuery("a query can only read: use SELECT (no writes, ATTACH or settings)");
}

// The words of a statement, folded; enough to see which tables it names.
std::vector<std::string> Words(std::string_view sql) {
  std::vector<std::string> words(1);
  for (const char c : FoldName(sql)) {
    if (c == '_' || std::isalnum(static_cast<unsigned char>(c))) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

// "no such column: s.nme" -> "nme"
std::string_view LastName(std::string_view message) {
  return message.substr(message.find_last_of(" .") + 1);
}

Error NoSuchTable(const std::string& message, const Catalog& catalog) {
  std::vector<std::string> names;
  for (const auto& table : catalog.tables()) names.push_back(table->name);
  return {ErrorCode::kNotFound,
          fmt::format("{}{}\ntables: {}", message, DidYouMean(LastName(message), names),
                      fmt::join(names, ", "))};
}

// Says the columns of each table that the statement mentions, a line each.
Error NoSuchColumn(const std::string& message, const Catalog& catalog, std::string_view sql) {
  const std::vector<std::string> words = Words(sql);
  std::vector<std::string> all;
  std::string lines;
  for (const auto& table : catalog.tables()) {
    if (std::find(words.begin(), words.end(), FoldName(table->name)) == words.end()) continue;
    std::vector<std::string> names;
    for (const SqlColumn& column : table->columns) names.push_back(column.name);
    lines += fmt::format("\ncolumns of {}: {}", table->name, fmt::join(names, ", "));
    all.insert(all.end(), names.begin(), names.end());
  }
  return {ErrorCode::kNotFound, message + DidYouMean(LastName(message), all) + lines};
}

// What SQLite said, with what would have been right.
Error Explain(sqlite3* db, int rc, const Catalog& catalog, std::string_view sql) {
  if (rc == SQLITE_INTERRUPT) return Cancelled();
  if (rc == SQLITE_AUTH) return OnlyReading();
  if (rc == SQLITE_NOMEM) return OutOfMemory();
  const std::string message = sqlite3_errmsg(db);
  if (message == "string or blob too big") {
    return InvalidQuery(fmt::format("a text or blob of the query is longer than {} bytes",
                                    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1)));
  }
  if (message.starts_with("no such table")) return NoSuchTable(message, catalog);
  if (message.starts_with("no such column")) return NoSuchColumn(message, catalog, sql);
  const int offset = sqlite3_error_offset(db);
  if (offset < 0) return InvalidQuery(message);
  return InvalidQuery(fmt::format("{} (at byte {} of the query)", message, offset + 1));
}

// SQLite's own table functions that are of use here. They declare their columns when first named,
// which the authorizer would refuse later on.
constexpr const char* kNameTableFunctions = "SELECT 1 FROM json_each, json_tree, pragma_table_info";

Result<Connection> OpenConnection(bool& is_declaring, const std::function<bool()>*& should_stop) {
  sqlite3* opened = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  const int rc = sqlite3_open_v2(":memory:", &opened, flags, nullptr);
  Connection db(opened);
  if (rc == SQLITE_NOMEM) return OutOfMemory();
  if (rc != SQLITE_OK) return Error{ErrorCode::kInternal, "SQLite cannot be started"};
  for (const auto& [limit, value] : kLimits) sqlite3_limit(opened, limit, value);
  for (const auto& [setting, value] : kSettings) {
    sqlite3_db_config(opened, setting, value, nullptr);
  }
  sqlite3_exec(opened, kNameTableFunctions, nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(opened, Authorize, &is_declaring);
  sqlite3_progress_handler(opened, kOpsBetweenCancelChecks, StopIfCancelled,
                           static_cast<void*>(&should_stop));
  return db;
}

// The first parameter as it was written; a bare '?' has no name.
std::string_view ParameterName(sqlite3_stmt* statement) {
  const char* name = sqlite3_bind_parameter_name(statement, 1);
  return name == nullptr ? "?" : name;
}

struct Prepared {
  Statement statement;  // null for blanks and comments
  std::string_view rest;
  int rc;
};
Prepared Prepare(sqlite3* db, std::string_view sql) {
  if (sql.empty()) return {nullptr, {}, SQLITE_OK};
  sqlite3_stmt* statement = nullptr;
  const char* tail = sql.data();
  const int size = static_cast<int>(std::min(sql.size(), size_t{1} << 30));
  const int rc = sqlite3_prepare_v2(db, sql.data(), size, &statement, &tail);
  return {Statement(statement), sql.substr(static_cast<size_t>(tail - sql.data())), rc};
}

}  // namespace

struct Database::Impl {
  Catalog catalog;
  bool is_declaring = false;  // see RegisterTables
  const std::function<bool()>* should_stop = nullptr;
  Connection db = nullptr;  // refers to all of them
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::Open(const store::Job& job,
                                                 std::vector<AnalysisTable> analyses) {
  SL_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Build(job, std::move(analyses)));
  auto impl = std::make_unique<Impl>(Impl{std::move(catalog)});
  SL_ASSIGN_OR_RETURN(impl->db, OpenConnection(impl->is_declaring, impl->should_stop));
  SL_RETURN_IF_ERROR(RegisterTables(impl->db.get(), impl->catalog, impl->is_declaring));
  SL_RETURN_IF_ERROR(ListTables(impl->db.get(), impl->catalog, impl->is_declaring));
  return std::unique_ptr<Database>(new Database(std::move(impl)));
}

// A statement that may be run.
struct Database::Checked {
  Statement statement;
};

Result<Database::Checked> Database::Check(std::string_view sql, const Limits& limits) {
  sqlite3* db = impl_->db.get();
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, limits.max_text_bytes);
  sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, limits.max_pattern_bytes);
  if (IsCancelled()) return Cancelled();
  if (sql.find('\0') != std::string_view::npos) return InvalidQuery("the query holds a NUL byte");
  Prepared first = Prepare(db, sql);
  if (first.rc != SQLITE_OK) return Explain(db, first.rc, impl_->catalog, sql);
  if (!first.statement) return InvalidQuery("the query is empty");
  if (sqlite3_column_count(first.statement.get()) == 0) return OnlyReading();
  if (sqlite3_bind_parameter_count(first.statement.get()) > 0) {
    return InvalidQuery(fmt::format(
        "the query has a parameter, '{}', and nothing gives it a value: write the value",
        ParameterName(first.statement.get())));
  }
  const Prepared second = Prepare(db, first.rest);
  if (second.statement || second.rc != SQLITE_OK) {
    return InvalidQuery("only one statement can be run; there is more after the first ';'");
  }
  return Checked{std::move(first.statement)};
}

Status Database::Stream(std::string_view sql, RowSink& sink, const Limits& limits) {
  SL_ASSIGN_OR_RETURN(const Checked checked, Check(sql, limits));
  impl_->should_stop = &limits.should_stop;
  StreamResult result = StreamRows(checked.statement.get(), sink, limits.max_rows);
  impl_->should_stop = nullptr;
  if (!result.status.ok()) return std::move(result.status);
  if (result.rc != SQLITE_DONE) return Explain(impl_->db.get(), result.rc, impl_->catalog, sql);
  return {};
}

Result<table::Table> Database::Run(std::string_view sql, const Limits& limits) {
  SL_ASSIGN_OR_RETURN(const Checked checked, Check(sql, limits));
  impl_->should_stop = &limits.should_stop;
  StatementResult result =
      CollectRows(checked.statement.get(), limits.max_result_bytes, limits.max_rows);
  impl_->should_stop = nullptr;
  if (result.too_large) {
    return InvalidQuery(fmt::format("the result is larger than {} MiB: add a LIMIT or aggregate",
                                    limits.max_result_bytes >> 20));
  }
  if (result.rc != SQLITE_DONE) return Explain(impl_->db.get(), result.rc, impl_->catalog, sql);
  return std::move(result.table);
}

std::string Database::Schema() const { return impl_->catalog.Describe(); }

}  // namespace steplens::query
