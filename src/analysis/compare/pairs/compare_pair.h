#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/question/question_answer.h"
#include "base/status.h"
#include "store/trace_store.h"

namespace steplens::analysis::pairs {

// One side of a comparison.
struct CompareSide {
  const store::Job* job = nullptr;
  int64_t rank = 0;
  std::optional<int64_t> step{};  // nothing: all steps
  int64_t origin_ns = 0;          // what is shown as time 0
};

struct CompareOptions {
  std::string group_by = "Computing Operator Type";  // as operator_groups has it
  // A group whose durations are compared: its type or name, and core. Empty: none.
  std::string key{};
  std::string core{};
};

// What differs between two runs, ranks or steps; differences are B - A. docs/metrics.md, "Compare",
// has the tables: parts, operators, communication, free, sides, matched, and histogram with a key.
// kNotFound for a rank that is not there, kInvalidArgument for a grouping that is none.
Result<QuestionAnswer> Compare(const CompareSide& a, const CompareSide& b,
                               const CompareOptions& options);

}  // namespace steplens::analysis::pairs
