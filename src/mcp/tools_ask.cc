#include <fmt/format.h>

#include <algorithm>

#include "analysis/question/question.h"
#include "analysis/question/recipe_questions.h"
#include "base/nearest_name.h"
#include "mcp/tool.h"
#include "query/question_tables.h"
#include "readers/slice_args.h"
#include "server/run_sql.h"

namespace steplens::mcp {
namespace {

using analysis::Question;
using analysis::QuestionAnswer;
using analysis::QuestionArgs;

QuestionArgs ArgsIn(JsonValue object) {
  QuestionArgs out;
  object.ForEachMember([&](std::string_view name, JsonValue value) {
    if (value.IsArray()) {
      std::string list;
      value.ForEachElement(
          [&](JsonValue item) { list += (list.empty() ? "" : ",") + item.ToText(); });
      out.values[std::string(name)] = std::move(list);
    } else if (value.IsString()) {
      out.values[std::string(name)] = std::string(*value.AsString());
    } else if (const auto whole = value.AsInt()) {
      out.values[std::string(name)] = *whole;
    } else if (const auto number = value.AsDouble()) {
      out.values[std::string(name)] = *number;
    } else {
      out.values[std::string(name)] = value.ToText();
    }
  });
  return out;
}

void ListQuestions(const std::vector<const Question*>& questions, std::string_view about,
                   Answer& answer) {
  size_t listed = 0;
  for (const Question* question : questions) {
    std::string args;
    for (const analysis::QuestionArg& arg : question->args)
      args += (args.empty() ? "" : ", ") + arg.name;
    const std::string line = fmt::format("{}({}): {}", question->name, args, question->description);
    if (!about.empty() && line.find(about) == std::string::npos) continue;
    answer.Line(line);
    ++listed;
  }
  answer.Line(fmt::format("{} questions; ask one with `question` and `args`", listed));
}

Status AddAnswer(const Question& question, const QuestionArgs& args, const QuestionAnswer& found,
                 const std::string& wanted, const Window& window, Answer& answer) {
  std::vector<std::string> names;
  bool is_shown = false;
  for (const table::Table& table : found.tables) {
    names.push_back(table.name());
    if (!wanted.empty() && table.name() != wanted) continue;
    is_shown = true;
    answer.Table(table, window.limit, window.offset, table.name());
    answer.Query(query::QuestionQuery(question, table, args));
  }
  if (!is_shown) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no table '{}'{}; tables: {}", wanted,
                             DidYouMean(wanted, names), fmt::join(names, ", "))};
  }
  for (const analysis::Message& warning : found.warnings)
    answer.Line("note: " + analysis::English(warning));
  return {};
}

Status AskOneOf(const ToolCall& call, const std::vector<const Question*>& questions,
                Answer& answer) {
  SL_ASSIGN_OR_RETURN(const std::string name, call.args.TextOr("question", ""));
  SL_ASSIGN_OR_RETURN(const std::string about, call.args.TextOr("about", ""));
  if (name.empty()) {
    ListQuestions(questions, about, answer);
    return {};
  }
  const auto found = std::find_if(questions.begin(), questions.end(),
                                  [&](const Question* one) { return one->name == name; });
  if (found == questions.end()) {
    std::vector<std::string> names;
    for (const Question* question : questions) names.push_back(question->name);
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no question '{}'{}; without `question` they are listed",
                             name, DidYouMean(name, names))};
  }
  const Question& question = **found;
  QuestionArgs args = ArgsIn(call.args.Raw("args"));
  SL_RETURN_IF_ERROR(analysis::CheckArgs(question, args));
  SL_ASSIGN_OR_RETURN(const std::string table, call.args.TextOr("table", ""));
  SL_ASSIGN_OR_RETURN(const Window window, WindowOf(call, table.empty() ? 8 : 20));
  SL_ASSIGN_OR_RETURN(const Capture capture, call.OpenPath());
  args.values["origin_ns"] = int64_t{0};  // times as in SQL
  SL_ASSIGN_OR_RETURN(const QuestionAnswer answered,
                      question.ask(args, *capture.job, readers::MakeArgsReader()));
  return AddAnswer(question, args, answered, table, window, answer);
}

}  // namespace

Status RunAsk(const ToolCall& call, Answer& answer) {
  std::vector<const Question*> questions;
  for (const Question& question : analysis::Questions()) questions.push_back(&question);
  return AskOneOf(call, questions, answer);
}

Status RunCluster(const ToolCall& call, Answer& answer) {
  std::vector<const Question*> questions;
  for (const analysis::RecipeQuestion& recipe : analysis::RecipeQuestions()) {
    if (const Question* question = analysis::FindQuestion(recipe.name))
      questions.push_back(question);
  }
  return AskOneOf(call, questions, answer);
}

Status RunSqlTool(const ToolCall& call, Answer& answer) {
  SL_ASSIGN_OR_RETURN(const std::string query, call.args.Text("query"));
  SL_ASSIGN_OR_RETURN(const Window window, WindowOf(call, 20));
  SL_ASSIGN_OR_RETURN(const Capture capture, call.OpenPath());
  constexpr size_t kMostRows = 100'000;  // counted; more are only said to be more
  SL_ASSIGN_OR_RETURN(
      const server::QueryThreads::Answer ran,
      server::RunSql(capture.open->cache, *capture.job, {query, call.time_limit, kMostRows + 1}));
  if (ran.timed_out)
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the query was stopped after {} s; aggregate less, or filter by rank "
                             "and step",
                             call.time_limit.count() / 1000)};
  if (!ran.table.ok()) return ran.table.error();
  answer.Table(*ran.table, window.limit, window.offset);
  if (ran.table->rows() > kMostRows)
    answer.Line(fmt::format("(only the first {} rows were counted)", kMostRows));
  return {};
}

}  // namespace steplens::mcp
