#include "query/question_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

namespace steplens::query {
namespace {

using analysis::Question;
using analysis::QuestionAnswer;
using analysis::QuestionArgs;

std::string_view SqlTypeOf(analysis::ArgType type) {
  switch (type) {
    case analysis::ArgType::kInt:
      return "INTEGER";
    case analysis::ArgType::kDouble:
      return "REAL";
    case analysis::ArgType::kText:
    case analysis::ArgType::kIntList:
      return "TEXT";
  }
  return "TEXT";
}

TableArg ArgOf(const analysis::QuestionArg& arg) {
  const std::string otherwise =
      arg.default_text.empty() ? "" : fmt::format(" (default {})", arg.default_text);
  return {arg.name, SqlTypeOf(arg.type), arg.doc + otherwise};
}

table::Table TakeTable(QuestionAnswer answer, const std::string& name) {
  const auto found = std::find_if(answer.tables.begin(), answer.tables.end(),
                                  [&](const table::Table& one) { return one.name() == name; });
  return found == answer.tables.end() ? table::Table(name) : std::move(*found);
}

// Pages have a result of their own under the name of a result file.
bool IsStoreTable(std::string_view name) {
  bool is_found = false;
  store::TraceStore().ForEachTable([&](const auto& table) {
    is_found = is_found || std::remove_cvref_t<decltype(table)>::kName == name;
  });
  return is_found;
}

std::string SqlName(const Question& question, const table::Table& shape, bool is_one) {
  if (!is_one && shape.name() != question.name)
    return fmt::format("{}_{}", question.name, shape.name());
  return IsStoreTable(question.name) ? question.name + "_page" : question.name;
}

bool IsOneTable(const Question& question) {
  return question.answer.size() == 1 && question.args.empty();
}

// A value as SQL writes it.
std::string Literal(const QuestionArgs::Value& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  std::string out = "'";
  for (const char c : std::get<std::string>(value)) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

// A table of an answer. Without arguments it is computed when it is first named.
AnalysisTable MakeTable(const Question& question, const table::Table& shape, std::string sql_name,
                        const analysis::ArgsReader& read_args) {
  AnalysisTable out;
  out.name = std::move(sql_name);
  out.doc = question.description;
  for (const analysis::QuestionArg& arg : question.args) out.args.push_back(ArgOf(arg));
  out.has_fixed_columns = question.has_fixed_columns;
  const std::string table = shape.name();
  out.ask = [&question, table, read_args](const store::Job& job,
                                          QuestionArgs given) -> Result<table::Table> {
    given.values["origin_ns"] = int64_t{0};  // as the times of other tables are
    SL_ASSIGN_OR_RETURN(QuestionAnswer answer, question.ask(given, job, read_args));
    return TakeTable(std::move(answer), table);
  };
  out.compute = [shape, ask = out.ask](const store::Job& job) {
    if (job.ranks.empty()) return shape;
    Result<table::Table> answer = ask(job, {});
    return answer.ok() ? std::move(*answer) : shape;
  };
  return out;
}

}  // namespace

std::vector<AnalysisTable> QuestionTables(const analysis::ArgsReader& read_args) {
  std::vector<AnalysisTable> out;
  for (const Question& question : analysis::Questions()) {
    for (const table::Table& shape : question.answer) {
      out.push_back(
          MakeTable(question, shape, SqlName(question, shape, IsOneTable(question)), read_args));
    }
  }
  return out;
}

std::string QuestionQuery(const Question& question, const table::Table& table,
                          const QuestionArgs& args) {
  std::string out = "SELECT * FROM " + SqlName(question, table, IsOneTable(question));
  std::string_view join = " WHERE ";
  for (const analysis::QuestionArg& arg : question.args) {
    const auto given = args.values.find(arg.name);
    if (given == args.values.end()) continue;
    out += fmt::format("{}arg_{} = {}", join, arg.name, Literal(given->second));
    join = " AND ";
  }
  return out;
}

}  // namespace steplens::query
