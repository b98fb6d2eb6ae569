#include "reader/answers.h"

#include <fmt/format.h>

#include "analysis/breakdown/breakdown.h"
#include "analysis/cluster/rank_facts.h"
#include "analysis/compare/runs/compare_runs.h"
#include "analysis/compare/runs/rank_part.h"
#include "analysis/compare/runs/run_tables.h"
#include "analysis/facts/rank_view.h"
#include "analysis/operators/op_list.h"
#include "analysis/still_wanted.h"
#include "analysis/summary/check_selection.h"
#include "analysis/text/message.h"
#include "reader/types.h"

namespace steplens::python {
namespace {

namespace runs = analysis::runs;

Result<runs::RunSummary> SummaryOf(const store::Job& job, const std::string& label) {
  runs::RunFolder folder;
  for (const store::TraceStore& rank : job.ranks) {
    SL_RETURN_IF_ERROR(analysis::StillWanted());
    const auto facts = analysis::cluster::DescribeRank(rank);
    folder.Add(runs::SummariseRank(analysis::RankView(rank), facts), facts.level);
  }
  runs::RunSummary summary = folder.Finish(label);
  if (summary.steps.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: no step and no device work to compare was found", label)};
  }
  return summary;
}

}  // namespace

PythonAnswer AnswerOf(std::vector<table::Table> tables, std::vector<std::string> warnings) {
  PythonAnswer out;
  for (table::Table& table : tables)
    out.tables.push_back(std::make_shared<ResultTable>(std::move(table), false));
  out.warnings = std::move(warnings);
  return out;
}

Result<PythonAnswer> AskOf(OpenedJob& job, const std::string& question,
                           const analysis::QuestionArgs& args) {
  SL_ASSIGN_OR_RETURN(analysis::QuestionAnswer answer, job.Ask(question, args));
  std::vector<std::string> warnings;
  for (const analysis::Message& warning : answer.warnings)
    warnings.push_back(analysis::English(warning));
  PythonAnswer out = AnswerOf(std::move(answer.tables), std::move(warnings));
  out.query = std::move(answer.query);
  return out;
}

Result<table::Table> ListOf(const store::Job& job, const std::string& what, const std::string& by,
                            const std::string& communication,
                            const analysis::Selection& selection) {
  SL_RETURN_IF_ERROR(analysis::CheckSelection(job, selection));
  if (what == "breakdown") {
    analysis::BreakdownOptions options;
    options.selection = selection;
    return analysis::StepBreakdown(job, options);
  }
  return analysis::ListOps(job, selection, by.empty() ? analysis::BestOpGrouping(job) : by,
                           communication);
}

Result<PythonAnswer> CompareJobs(const store::Job& base, const store::Job& comparison) {
  SL_ASSIGN_OR_RETURN(const runs::RunSummary a, SummaryOf(base, "base"));
  SL_ASSIGN_OR_RETURN(const runs::RunSummary b, SummaryOf(comparison, "comparison"));
  const runs::RunComparison result = runs::CompareRuns(a, b);
  return AnswerOf(runs::ComparisonTables(result, a, b), result.notes);
}

PyObject* AnswerToPython(PythonAnswer answer) {
  Ref tables(PyList_New(0));
  Ref warnings(PyList_New(0));
  for (std::shared_ptr<ResultTable>& table : answer.tables) {
    const Ref one(NewResult(std::move(table)));
    if (!tables || !one || PyList_Append(tables.get(), one.get()) != 0) return nullptr;
  }
  for (const std::string& warning : answer.warnings) {
    const Ref one(ToPython(warning));
    if (!warnings || !one || PyList_Append(warnings.get(), one.get()) != 0) return nullptr;
  }
  return Py_BuildValue("(NNN)", tables.release(), warnings.release(), ToPython(answer.query));
}

// compare(base, comparison) -> as Job.ask
PyObject* Compare(PyObject*, PyObject* arguments) {
  PyObject* first = nullptr;
  PyObject* second = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO:compare", &first, &second)) return nullptr;
  const std::shared_ptr<OpenedJob> base = JobOf(first);
  const std::shared_ptr<OpenedJob> comparison = base ? JobOf(second) : nullptr;
  PythonAnswer answer;
  const auto run = [&]() -> Status {
    SL_ASSIGN_OR_RETURN(answer, CompareJobs(base->job(), comparison->job()));
    return {};
  };
  if (!comparison || !RunReleased(run)) return nullptr;
  return AnswerToPython(std::move(answer));
}

}  // namespace steplens::python
