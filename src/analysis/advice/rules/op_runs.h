#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/advice/rules/rule_tools.h"

// Rows of small operators, which two rules look at: launch_bound and host_sync.

namespace steplens::analysis {

// Outermost operators that follow each other so fast that each is mostly its own call.
std::vector<OpRun> SmallOpRuns(const RankEvidence& rank);
// Whether a run reads numbers out of tensors: .item(), .tolist() by hand, comparisons in Python.
bool ReadsNumbers(const OpRun& run);
std::string SortedNames(const OpRun& run);

// Runs of the same operators, and what a finding about them says.
struct RunGroup {
  int64_t sum_ns = 0;  // of what would be gone
  size_t calls = 0;
  OpRun longest;
  std::vector<Interval> gone;          // host time
  std::vector<store::SliceId> device;  // work

  void Add(OpRun& run, Interval without, const std::vector<store::SliceId>& of_device);
  std::string CallsPerStep(const RankEvidence& rank) const;
  void Fill(const RankEvidence& rank, Finding& finding);
};

}  // namespace steplens::analysis
