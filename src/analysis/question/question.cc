#include "analysis/question/question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/api/api_statistics.h"
#include "analysis/breakdown/breakdown.h"
#include "analysis/breakdown/step_times.h"
#include "analysis/operators/kernel_statistics.h"
#include "analysis/operators/operator_tables.h"
#include "analysis/operators/rooflines.h"
#include "analysis/question/recipe_questions.h"
#include "analysis/question/whatif_questions.h"
#include "analysis/verify/verify.h"
#include "analysis/viewer/metric.h"
#include "base/cancel.h"
#include "base/nearest_name.h"

namespace steplens::analysis {
namespace {

using store::Job;

// Arguments mean the same wherever they appear. A default that differs names its question.
struct ArgFacts {
  std::string_view name;
  ArgType type;
  std::string_view default_text;
  std::string_view doc;
  std::string_view question = "";  // empty: of all others
};
constexpr ArgFacts kArgFacts[] = {
    {"rank", ArgType::kInt, "", "the rank; without it all ranks", "comm_durations"},
    {"rank", ArgType::kInt, "", "the rank; without it all ranks", "summary_ranks"},
    {"rank", ArgType::kInt, "", "the rank; without it all ranks", "critical_path"},
    {"rank", ArgType::kInt, "", "the rank; without it all ranks", "whatif"},
    {"rank", ArgType::kInt, "", "the rank; without it the first"},
    {"ranks", ArgType::kIntList, "", "the ranks; without it all"},
    {"step", ArgType::kInt, "", "the step; without it all"},
    {"t0", ArgType::kInt, "", "nanoseconds: what ends before does not count"},
    {"t1", ArgType::kInt, "", "nanoseconds: what begins after does not count"},
    {"live_at", ArgType::kInt, "", "nanoseconds: only what is allocated then"},
    {"top", ArgType::kInt, "15", "how many rows"},
    {"group", ArgType::kText, "", "the communication group; without it all"},
    {"operator", ArgType::kText, "Total Op Info", "the communication operator"},
    {"transport", ArgType::kText, "", "the kind of link; without it all"},
    {"src", ArgType::kInt, "-1", "the sender whose calls are listed; -1: none"},
    {"dst", ArgType::kInt, "-1", "the receiver whose calls are listed; -1: none"},
    {"inner", ArgType::kInt, "0", "1: with what a rank sends to itself"},
    {"group_by", ArgType::kText, "Overall", "Overall, Component or Stream", "memory_curve"},
    {"group_by", ArgType::kText, "Computing Operator Type", "what kernels are grouped by"},
    {"width", ArgType::kInt, "0", "how many points are wanted; 0: all"},
    {"min_mb", ArgType::kDouble, "100", "components with a smaller peak are left out"},
    {"graph", ArgType::kText, "", "the graph; without it the first"},
    {"path", ArgType::kText, "Computing Time", "a node of the tree of `overall`"},
    {"layer", ArgType::kText, "Python API", "the layer of the timeline"},
    {"layers", ArgType::kInt, "1", "how many layers of experts a step has"},
    {"tracks", ArgType::kIntList, "", "rows of `tracks`; without it those of operators"},
    {"order", ArgType::kText, "merged", "merged or time"},
    {"type", ArgType::kText, "", "only kernels of this type"},
    {"name", ArgType::kText, "", "only slices or kernels of this name"},
    {"shape", ArgType::kText, "", "only kernels with these input shapes"},
    {"core", ArgType::kText, "", "only kernels on this core"},
    {"config", ArgType::kText, "", "the tasks of the loop, as docs/metrics.md has it"},
    {"algorithm", ArgType::kText, "", "the order of ranks; without it as the capture says"},
    {"pp", ArgType::kInt, "", "pipeline parallel size; without it as the capture says"},
    {"tp", ArgType::kInt, "", "tensor parallel size; without it as the capture says"},
    {"cp", ArgType::kInt, "", "context parallel size; without it as the capture says"},
    {"dp", ArgType::kInt, "", "data parallel size; without it as the capture says"},
    {"ep", ArgType::kInt, "", "expert parallel size; without it as the capture says"},
    {"moe_tp", ArgType::kInt, "",
     "tensor parallel size of experts; without it as the capture says"},
    {"dimension", ArgType::kText, "DP+PP+CP+TP", "the dimensions that stay apart"},
    {"scale", ArgType::kText, "", "parts and factors, e.g. 'kernel:MatMul*=0.5; comm=0.8'"},
    {"remove", ArgType::kText, "", "parts, e.g. 'sync; host:*DataLoader*'"},
    {"overlap", ArgType::kText, "", "parts that computing does not wait for, e.g. 'comm'"},
    {"network", ArgType::kText, "", "how many times as fast collectives transfer, e.g. '2x'"},
    {"host", ArgType::kText, "", "how many times as fast the host is, e.g. '2x'"},
    {"balance", ArgType::kText, "", "'ranks': each computes as long as the average one"},
    {"top_num", ArgType::kInt, "", "how many rows; without it as docs/cluster has it"},
    {"rank_id", ArgType::kInt, "", "the rank that is looked at; without it the first"},
    {"parallel_types", ArgType::kText, "dp,edp;edp;dp;ep;pp;mp;tp",
     "sets of kinds of groups, e.g. 'edp;dp,edp'"},
    {"exclude_op_name", ArgType::kInt, "0", "1: no table by operator name"},
    {"full_matrix", ArgType::kInt, "0", "1: every link of groups with more than 64 ranks"},
};

QuestionArg DescribeArg(const std::string& question, const std::string& name) {
  for (const ArgFacts& facts : kArgFacts) {
    if (facts.name == name && (facts.question.empty() || facts.question == question))
      return {name, facts.type, std::string(facts.default_text), std::string(facts.doc)};
  }
  return {name, ArgType::kText, "", ""};
}

// A question without arguments that is one table.
Question TableQuestion(std::string name, std::string description,
                       std::function<table::Table(const Job&, const ArgsReader&)> compute,
                       bool has_fixed_columns = true) {
  Question question{std::move(name), std::move(description), {}, {}, has_fixed_columns};
  question.ask = [compute = std::move(compute)](const QuestionArgs&, const Job& job,
                                                const ArgsReader& read_args) {
    QuestionAnswer answer;
    answer.tables.push_back(compute(job, read_args));
    return Result<QuestionAnswer>(std::move(answer));
  };
  return question;
}

// A question about the step graph.
Question GraphQuestion(std::string name, std::string description,
                       const std::vector<std::string>& args,
                       Result<QuestionAnswer> (*ask)(const QuestionArgs&, const Job&)) {
  Question question{std::move(name), std::move(description), {}, {}};
  for (const std::string& arg : args) question.args.push_back(DescribeArg(question.name, arg));
  question.ask = [ask](const QuestionArgs& given, const Job& job, const ArgsReader&) {
    return ask(given, job);
  };
  return question;
}

Question KernelQuestion(std::string name, std::string description, KernelGrouping by) {
  return TableQuestion(std::move(name), std::move(description), [by](const Job& job, const auto&) {
    return KernelStatistics(job, {.by = by, .selection = {}, .per_rank = true});
  });
}

// Tables that only an answer about one rank has.
void AddTablesOfARank(const Job& empty, Question& question) {
  const bool takes_rank = std::any_of(question.args.begin(), question.args.end(),
                                      [](const QuestionArg& arg) { return arg.name == "rank"; });
  if (!takes_rank) return;
  QuestionArgs args;
  args.values["rank"] = empty.ranks.front().info.rank;
  Result<QuestionAnswer> answer = question.ask(args, empty, {});
  if (!answer.ok()) return;
  for (table::Table& one : answer->tables) {
    const bool is_known =
        std::any_of(question.answer.begin(), question.answer.end(),
                    [&](const table::Table& known) { return known.name() == one.name(); });
    if (!is_known) question.answer.push_back(std::move(one));
  }
}

// What only pages of the viewer need.
void AddPageQuestions(std::vector<Question>& all) {
  for (const viewer::MetricEntry& metric : viewer::Metrics()) {
    Question question{metric.name, metric.description, {}, {}, metric.name != "operator_details"};
    for (const std::string& arg : metric.args)
      question.args.push_back(DescribeArg(metric.name, arg));
    question.ask = [name = metric.name](const QuestionArgs& args, const Job& job,
                                        const ArgsReader& read_args) {
      return viewer::ComputeMetric(name, args, job, read_args);
    };
    all.push_back(std::move(question));
  }
}

// What is asked of all ranks (docs/cluster).
void AddRecipeQuestions(std::vector<Question>& all) {
  for (const RecipeQuestion& recipe : RecipeQuestions()) {
    Question question{recipe.name, recipe.description, {}, {}};
    for (const std::string& arg : recipe.args)
      question.args.push_back(DescribeArg(recipe.name, arg));
    question.ask = [recipe](const QuestionArgs& args, const Job& job, const ArgsReader&) {
      return AskRecipeQuestion(recipe, args, job);
    };
    all.push_back(std::move(question));
  }
}

std::vector<Question> MakeQuestions() {
  std::vector<Question> all = {
      TableQuestion(
          "breakdown",
          "Compute, communication and free time of each step, as in step_trace_time.csv.",
          [](const Job& job, const auto&) { return StepBreakdown(job, {}); }, false),
      TableQuestion(
          "step_times",
          "How long each step took on the host and on the device; without a step: on average.",
          [](const Job& job, const auto&) { return StepTimeTable(job); }),
      TableQuestion("temporal_breakdown", "Idle, compute and other device time of each rank.",
                    [](const Job& job, const auto&) { return TemporalBreakdown(job); }),
      KernelQuestion("op_stats",
                     "Device kernels by operator type and core, as in op_statistic.csv.",
                     KernelGrouping::kType),
      KernelQuestion("kernel_stats_by_name", "Device kernels by name.", KernelGrouping::kName),
      KernelQuestion("kernel_stats_by_shape", "Device kernels by name and input shapes.",
                     KernelGrouping::kShape),
      KernelQuestion("kernel_stats_by_core", "Device kernels by the core they ran on.",
                     KernelGrouping::kCore),
      TableQuestion(
          "operator_stats",
          "Host operators by name and pass (forward, backward, recomputed), with host and "
          "device time.",
          [](const Job& job, const auto&) { return HostOpStatistics(job, {}, true); }),
      TableQuestion("operator_tree",
                    "Every host operator with its parent, host and device time, and its pass.",
                    [](const Job& job, const auto&) { return OperatorTree(job, {}); }),
      TableQuestion("operator_rooflines",
                    "FLOPs, bytes and roofline bound of host operators by name and input shapes.",
                    [](const Job& job, const auto&) { return OperatorRooflines(job); }),
      TableQuestion("api_stats", "CANN and GPU runtime calls by name, as in api_statistic.csv.",
                    [](const Job& job, const auto&) {
                      return ApiStatistics(job, {.selection = {}, .per_rank = true});
                    }),
      TableQuestion("verify", "Whether the files of the ranks agree with each other, rule by rule.",
                    [](const Job& job, const ArgsReader& read_args) {
                      return VerifyTable(job, {.args_of = read_args});
                    }),
      GraphQuestion("critical_path",
                    "What the chain of work that decides how long a step takes is spent with.",
                    {"rank", "step", "top"}, AskCriticalPath),
      GraphQuestion(
          "whatif", "How long a step would take after a change, by a replay of what was recorded.",
          {"rank", "step", "scale", "remove", "overlap", "network", "host", "balance"}, AskWhatIf),
  };
  AddPageQuestions(all);
  AddRecipeQuestions(all);
  Job empty;
  empty.ranks.emplace_back();
  for (Question& question : all) {
    Result<QuestionAnswer> answer = question.ask({}, empty, {});
    if (answer.ok()) question.answer = std::move(answer->tables);
    AddTablesOfARank(empty, question);
    for (table::Table& one : question.answer) one.Truncate(0);
  }
  return all;
}

Error NoQuestion(std::string_view name) {
  std::vector<std::string> names;
  for (const Question& question : Questions()) names.push_back(question.name);
  return {ErrorCode::kNotFound,
          fmt::format("there is no question '{}'{}", name, DidYouMean(name, names))};
}

}  // namespace

std::string_view ArgTypeName(ArgType type) {
  switch (type) {
    case ArgType::kInt:
      return "integer";
    case ArgType::kDouble:
      return "number";
    case ArgType::kText:
      return "text";
    case ArgType::kIntList:
      return "list";
  }
  return "";
}

const std::vector<Question>& Questions() {
  static const std::vector<Question> all = MakeQuestions();
  return all;
}

const Question* FindQuestion(std::string_view name) {
  for (const Question& question : Questions()) {
    if (question.name == name) return &question;
  }
  return nullptr;
}

Status CheckArgs(const Question& question, const QuestionArgs& args) {
  for (const auto& [name, value] : args.values) {
    const bool is_known = std::any_of(question.args.begin(), question.args.end(),
                                      [&](const QuestionArg& arg) { return arg.name == name; });
    if (is_known) continue;
    std::vector<std::string> names;
    for (const QuestionArg& arg : question.args) names.push_back(arg.name);
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("'{}' has no argument '{}'{}; arguments: {}", question.name, name,
                             DidYouMean(name, names),
                             names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))};
  }
  return {};
}

Result<QuestionAnswer> AskQuestion(std::string_view name, const QuestionArgs& args, const Job& job,
                                   const ArgsReader& read_args) {
  const Question* question = FindQuestion(name);
  if (question == nullptr) return NoQuestion(name);
  return question->ask(args, job, read_args);
}

}  // namespace steplens::analysis
