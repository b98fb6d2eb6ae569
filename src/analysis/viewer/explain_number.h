#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/explain/explain.h"
#include "analysis/viewer/metric.h"

namespace steplens::analysis::viewer {

// A number of a named result: which result, and where in it.
struct NumberQuestion {
  std::string metric;
  MetricArgs args;
  std::map<std::string, std::string> row;  // the texts of its row, by column
  std::string column;
};

// One of the slices or kernels that make up a number. Times as the metric's columns have them.
struct NumberPart {
  Message wording;
  double share = 0;  // of all parts
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
};

struct NumberAnswer {
  Message title;
  Message verdict;  // how many parts there are and what they add up to
  std::string definition;
  std::string query;
  int64_t rank = 0;               // whose times they are
  std::vector<NumberPart> parts;  // the longest
};

// What a number of a page is made of. Numbers that no slices stand behind have a definition and a
// query only. kNotFound for a metric that is none.
Result<NumberAnswer> ExplainNumber(const NumberQuestion& question, const store::Job& job);

}  // namespace steplens::analysis::viewer
