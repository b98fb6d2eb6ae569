#pragma once

#include "reader/python.h"  // first

#include <memory>
#include <string>
#include <vector>

#include "analysis/selection.h"
#include "reader/opened_job.h"

namespace steplens::python {

// What a question gives, ready for Python.
struct PythonAnswer {
  std::vector<std::shared_ptr<ResultTable>> tables;
  std::vector<std::string> warnings;
  std::string query;
};
PythonAnswer AnswerOf(std::vector<table::Table> tables, std::vector<std::string> warnings);

Result<PythonAnswer> AskOf(OpenedJob& job, const std::string& question,
                           const analysis::QuestionArgs& args);
// `what`: breakdown or ops. kNotFound for a rank or step that is not there.
Result<table::Table> ListOf(const store::Job& job, const std::string& what, const std::string& by,
                            const std::string& communication, const analysis::Selection& selection);
// Two runs as `steplens compare` has them.
Result<PythonAnswer> CompareJobs(const store::Job& base, const store::Job& comparison);

// ([Result], [warning], query)
PyObject* AnswerToPython(PythonAnswer answer);

}  // namespace steplens::python
