#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/rank_evidence.h"

// What several rules beyond need: the host's steps, rows of small operators, and edits that name
// what was found.

namespace steplens::analysis {

// The steps as the host marked them; all time without steps.
Cover HostSteps(const RankEvidence& rank);

// Operators that no other operator called, ProfilerStep# and the like not counted as operators;
// those of the steps, by thread and start. Rows of rank.host_ops().ops.
std::vector<uint32_t> OutermostOps(const RankEvidence& rank);

// Outermost operators of one thread, one right after the other, all of them short, of a few names;
// none waits for more device work than it takes itself.
struct OpRun {
  std::vector<store::SliceId> slices;
  std::vector<store::SliceId> later_work;  // what the device did for all but the first of them
  Interval range{};                        // from the first begin to the last end
  std::vector<std::string_view> names;     // different ones, by first call
};
struct OpRunLimits {
  int64_t longest_op_ns = 0;
  int64_t longest_gap_ns = 0;
  size_t most_names = 0;
  size_t fewest_ops = 0;
};
std::vector<OpRun> FindOpRuns(const RankEvidence& rank, const OpRunLimits& limits);

// What the device did for each of these host slices and for what runs inside of it.
std::vector<std::vector<store::SliceId>> WorkOfEach(const RankEvidence& rank,
                                                    std::span<const store::SliceId> host);
// The same of all of them, ascending.
std::vector<store::SliceId> LaunchedBy(const RankEvidence& rank,
                                       std::span<const store::SliceId> host);

// Takes away `host` with its launches, and what these launched (both ascending).
std::vector<Edit> RemoveWork(const RankEvidence& rank, std::vector<store::SliceId> host,
                             std::vector<store::SliceId> device);
Edit RemoveHostTime(const RankEvidence& rank, std::vector<Interval> ranges);

// Sum of the durations, and what the slices cover without counting twice.
int64_t TotalOf(const store::TraceStore& store, std::span<const store::SliceId> slices);

// Evidence of a call site, if stacks or operators tell: "called at train.py(12): step".
void AddCallSite(const RankEvidence& rank, store::SliceId slice, Finding& finding);

// "a, b, c, ...": the first few names.
std::string ShortNames(std::span<const std::string_view> names);

}  // namespace steplens::analysis
