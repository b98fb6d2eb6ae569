#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/args_reader.h"
#include "analysis/question/question_answer.h"
#include "analysis/question/question_args.h"
#include "base/status.h"
#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

enum class ArgType : uint8_t { kInt, kDouble, kText, kIntList };  // kIntList: "0,3-7"
std::string_view ArgTypeName(ArgType type);                       // "integer", "number", ...

struct QuestionArg {
  std::string name;
  ArgType type = ArgType::kText;
  std::string default_text;  // what counts if it is left out; empty if `doc` says that
  std::string doc;
};

// Something that can be asked of a job.
struct Question {
  std::string name;
  std::string description;  // one sentence
  std::vector<QuestionArg> args;
  std::function<Result<QuestionAnswer>(const QuestionArgs&, const store::Job&, const ArgsReader&)>
      ask;
  // Whether the answer about an empty rank has the columns of every answer. Others add some that
  // the input names.
  bool has_fixed_columns = true;
  std::vector<table::Table> answer{};  // that one: its tables with their columns
};

// Every question, the analyses first; names are unique. docs/metrics.md defines the numbers.
const std::vector<Question>& Questions();
const Question* FindQuestion(std::string_view name);  // null if there is none

// An error if the question does not have one of the arguments.
Status CheckArgs(const Question& question, const QuestionArgs& args);

// Answers one question. Times count from the argument `origin_ns`, from the job's first event
// without it. Pure, for many threads at once. Errors: kNotFound for an unknown question (with the
// nearest name) or rank, kInvalidArgument for arguments that make no sense. Arguments that the
// question does not have are passed over.
Result<QuestionAnswer> AskQuestion(std::string_view name, const QuestionArgs& args,
                                   const store::Job& job, const ArgsReader& read_args = {});

}  // namespace steplens::analysis
