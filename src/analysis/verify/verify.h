#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "store/trace_store.h"
#include "table/table.h"

namespace steplens::analysis {

enum class CheckState { kHolds, kBroken, kNotApplicable };
const char* CheckStateName(CheckState state);  // "holds", "broken", "not applicable"

// What one rule says about one rank.
struct CheckResult {
  std::string
      id;  // the number of a documented invariant ("12", "9.aicore"), or a name ("kernels.wait")
  std::string title;  // one sentence: what must hold
  CheckState state = CheckState::kNotApplicable;
  // kHolds: what was compared. kBroken: how many of how many rows, largest deviation.
  // kNotApplicable: which file or table is missing.
  std::string detail;
  // The first rows that break the rule: file or table, row (1 = first below the header), found,
  // expected.
  std::vector<std::string> offending;
};

struct VerifyOptions {
  size_t max_rows = 5;  // rows kept in CheckResult::offending
  // The args of a slice as JSON text, empty if it has none. Not set: rules that need args do not
  // apply.
  std::function<std::string(const store::TraceStore& rank, store::SliceId slice)> args_of;
};

// Checks every rule on one rank, always in the same order: the numbered ones, then ours. O(n log
// n).
std::vector<CheckResult> VerifyRank(const store::TraceStore& store, const VerifyOptions& options);

// The results of each rank of a job, in its order. Adds a rule to those of VerifyRank, last in each
// list: step_trace_time equals our own breakdown of the timeline, which is made for whole jobs.
std::vector<std::vector<CheckResult>> VerifyJob(const store::Job& job,
                                                const VerifyOptions& options);

// VerifyJob as a table: Rank, Check, State, Title, Detail; a broken rule adds its
// offending rows to the detail.
table::Table VerifyTable(const store::Job& job, const VerifyOptions& options);

}  // namespace steplens::analysis
