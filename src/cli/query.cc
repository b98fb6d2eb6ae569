#include <unistd.h>

#include <memory>

#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/row_printer.h"
#include "cli/standard_streams.h"
#include "query/database.h"
#include "query/question_tables.h"
#include "readers/slice_args.h"
#include "table/arrow_stream.h"

namespace steplens::cli {
namespace {

// Arrow is for programs: a terminal would show its bytes as rubbish.
Status PrintArrow(const table::Table& table) {
  if (::isatty(STDOUT_FILENO) != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 "--format arrow: stdout is a terminal, and Arrow is binary; write it to a file or "
                 "a pipe"};
  }
  return table::WriteArrowStream(table, [](std::string_view bytes) { return PrintResult(bytes); });
}

// A table for people, and one whose columns have types, is laid out when all of it is known; the
// other forms go out as rows are found.
Status Answer(query::Database& database, const std::string& sql, const Arguments& arguments) {
  const std::string format = arguments.Value("--format");
  if (format == "table" || format == "arrow") {
    SL_ASSIGN_OR_RETURN(const table::Table table, database.Run(sql));
    return format == "arrow" ? PrintArrow(table) : PrintTable(table, arguments);
  }
  const std::unique_ptr<RowPrinter> printer = MakeRowPrinter(format, arguments.Has("--csv-safe"));
  const Status status = database.Stream(sql, *printer, {});
  // What was found before an error is shown as well, but not closed as if it were all.
  return status.ok() ? printer->End() : status;
}

Result<int> RunQuery(const Arguments& arguments) {
  const bool wants_schema = arguments.Has("--schema");
  const std::vector<std::string>& sql = arguments.Positional("SQL");
  if (!wants_schema && sql.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "query: no SQL given; type it behind the path, or use --schema"};
  }
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(arguments));
  SL_ASSIGN_OR_RETURN(const auto database,
                      query::Database::Open(job, query::QuestionTables(readers::MakeArgsReader())));
  if (wants_schema) {
    SL_RETURN_IF_ERROR(PrintResult(database->Schema()));
    return 0;
  }
  SL_RETURN_IF_ERROR(Answer(*database, sql.front(), arguments));
  return 0;
}

}  // namespace

CommandSpec QueryCommand() {
  CommandSpec spec;
  spec.summary = "Run SQL on a profile";
  spec.description =
      "Read-only SQL (SQLite's dialect) over the tables of the profile and over every question of "
      "'steplens ask'. "
      "Every table of the profile has a column 'rank'; times are integer "
      "nanoseconds in columns ending in _ns. --schema lists all tables and columns, "
      "\"SELECT name FROM sqlite_master\" the tables.";
  spec.positionals = {
      PathPositional(false),
      {.name = "SQL", .help = "One SELECT statement", .required = false, .is_path = false}};
  spec.options = Joined({{.name = "--format",
                          .value_name = "FORMAT",
                          .help = "Output format; arrow: an Arrow IPC stream",
                          .default_value = "table",
                          .choices = {"table", "csv", "json", "arrow"}},
                         CsvSafeOption(),
                         {.name = "--schema", .help = "List the tables and columns instead"}},
                        InputOptions());
  spec.example =
      "steplens query examples/sample \"SELECT rank, count(*) FROM slices GROUP BY rank\"";
  spec.run = RunQuery;
  return spec;
}

}  // namespace steplens::cli
