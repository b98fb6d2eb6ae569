#include <fmt/format.h>

#include <algorithm>

#include "analysis/question/question.h"
#include "base/nearest_name.h"
#include "cli/commands.h"
#include "cli/open_input.h"
#include "cli/standard_streams.h"
#include "readers/slice_args.h"

namespace steplens::cli {
namespace {

using analysis::Question;
using analysis::QuestionAnswer;
using analysis::QuestionArgs;

std::vector<std::string> QuestionNames() {
  std::vector<std::string> names;
  for (const Question& question : analysis::Questions()) names.push_back(question.name);
  return names;
}

// A line per question, one per argument below it.
std::string ListText() {
  std::string out;
  for (const Question& question : analysis::Questions()) {
    out += fmt::format("{:<22} {}\n", question.name, question.description);
    for (const analysis::QuestionArg& arg : question.args) {
      out += fmt::format(
          "  {:<20} {}: {}{}\n", arg.name, analysis::ArgTypeName(arg.type), arg.doc,
          arg.default_text.empty() ? "" : fmt::format(" (default {})", arg.default_text));
    }
  }
  return out;
}

// --arg NAME=VALUE ...
Result<QuestionArgs> ArgsOf(const Arguments& arguments, const Question& question) {
  QuestionArgs args;
  for (const std::string& word : arguments.Values("--arg")) {
    const size_t mark = word.find('=');
    if (mark == std::string::npos || mark == 0) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("--arg: '{}' is not of the form NAME=VALUE", word)};
    }
    args.values[word.substr(0, mark)] = word.substr(mark + 1);
  }
  SL_RETURN_IF_ERROR(analysis::CheckArgs(question, args));
  args.values["origin_ns"] = int64_t{0};  // times as in SQL
  return args;
}

Error NoTable(const std::string& name, const QuestionAnswer& answer) {
  std::vector<std::string> names;
  for (const table::Table& table : answer.tables) names.push_back(table.name());
  std::string list;
  for (const std::string& one : names) list += (list.empty() ? "" : ", ") + one;
  return {ErrorCode::kNotFound, fmt::format("--table: there is no table '{}'{}; tables: {}", name,
                                            DidYouMean(name, names), list)};
}

Status PrintAnswer(const QuestionAnswer& answer, const Arguments& arguments) {
  const std::string wanted = arguments.Value("--table");
  const bool is_for_people = !arguments.Has("--json") && !arguments.Has("--csv");
  if (wanted.empty() && !is_for_people && answer.tables.size() > 1) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("--json and --csv print one table, and the answer has {}: name it "
                             "with --table ({}, ...)",
                             answer.tables.size(), answer.tables.front().name())};
  }
  bool is_found = false;
  for (const table::Table& table : answer.tables) {
    if (!wanted.empty() && table.name() != wanted) continue;
    if (wanted.empty() && answer.tables.size() > 1) {
      SL_RETURN_IF_ERROR(PrintResult(fmt::format("{}{}:\n", is_found ? "\n" : "", table.name())));
    }
    is_found = true;
    SL_RETURN_IF_ERROR(PrintTable(table, arguments));
  }
  if (!is_found) return NoTable(wanted, answer);
  for (const analysis::Message& warning : answer.warnings)
    Say(fmt::format("steplens: {}\n", analysis::English(warning)));
  return {};
}

Result<int> RunAsk(const Arguments& arguments) {
  if (arguments.Has("--list")) {
    SL_RETURN_IF_ERROR(PrintResult(ListText()));
    return 0;
  }
  const std::vector<std::string>& name = arguments.Positional("QUESTION");
  if (name.empty() || arguments.Positional("PATH").empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "ask: a question and a path were expected; --list shows the questions"};
  }
  const Question* question = analysis::FindQuestion(name.front());
  if (question == nullptr) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no question '{}'{}; --list shows them", name.front(),
                             DidYouMean(name.front(), QuestionNames()))};
  }
  SL_ASSIGN_OR_RETURN(const QuestionArgs args, ArgsOf(arguments, *question));
  SL_ASSIGN_OR_RETURN(const store::Job job, OpenInput(arguments));
  SL_ASSIGN_OR_RETURN(const QuestionAnswer answer,
                      question->ask(args, job, readers::MakeArgsReader()));
  SL_RETURN_IF_ERROR(PrintAnswer(answer, arguments));
  return 0;
}

}  // namespace

CommandSpec AskCommand() {
  CommandSpec spec;
  spec.summary = "Print any number of the viewer's pages";
  spec.description =
      "Answers one of the questions behind the viewer's pages and prints its tables. --list shows "
      "the questions and their arguments; docs/metrics.md defines the numbers. Each table is also "
      "a SQL table of 'steplens query'. Times are nanoseconds since the epoch, as in SQL.";
  PositionalSpec path = PathPositional(true);
  path.required = false;
  spec.positionals = {{.name = "QUESTION",
                       .help = "The question, e.g. overview",
                       .required = false,
                       .is_path = false},
                      path};
  spec.options =
      Joined({{.name = "--arg",
               .value_name = "NAME=VALUE",
               .help = "An argument of the question; may be repeated",
               .is_repeated = true},
              {.name = "--table", .value_name = "NAME", .help = "Only this table of the answer"},
              {.name = "--list", .help = "List the questions and their arguments"}},
             Joined(TableOptions(), InputOptions()));
  spec.example = "steplens ask overview examples/sample --arg rank=1";
  spec.run = RunAsk;
  return spec;
}

}  // namespace steplens::cli
