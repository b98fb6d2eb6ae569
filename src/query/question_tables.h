#pragma once

#include <string>
#include <vector>

#include "analysis/question/question.h"
#include "query/analysis_table.h"

namespace steplens::query {

// The questions of analysis/question as SQL tables, one for each table of an answer: named after
// the question if it has no arguments and one table, else <question>_<table>. Times in them are
// those of the other tables. `read_args` as for analysis::AskQuestion.
std::vector<AnalysisTable> QuestionTables(const analysis::ArgsReader& read_args = {});

// "SELECT * FROM overview_steps WHERE arg_rank = 3": one of these tables, with the arguments that
// the question takes.
std::string QuestionQuery(const analysis::Question& question, const table::Table& table,
                          const analysis::QuestionArgs& args);

}  // namespace steplens::query
