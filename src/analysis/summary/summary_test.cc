#include "analysis/summary/summary.h"

#include <gtest/gtest.h>

namespace steplens::analysis {
namespace {

TEST(Summarise, CountsRowsAndListsEachStepOnce) {
  store::TraceStore store;
  for (const int64_t begin : {100, 50}) {
    store::SliceTable::Row slice;
    slice.begin_ns = begin;
    slice.dur_ns = 10;
    store.slices.Append(slice);
  }
  store.steps.Append({11, 0, 0});
  store.steps.Append({10, 0, 0});
  store.steps.Append({11, 0, 0});
  const RankSummary summary = Summarise(store);
  EXPECT_EQ(summary.counts[0], (std::pair<std::string_view, size_t>("slices", 2)));
  EXPECT_EQ(summary.steps, (std::vector<int64_t>{10, 11}));
  EXPECT_EQ(summary.extent.begin_ns, 50);
  EXPECT_EQ(summary.extent.end_ns, 110);
}

TEST(Summarise, TakesStepsFromTheStepTableWhereTheTraceMarksNone) {
  store::TraceStore store;
  store::StepTraceTable::Row row;
  row.step = 7;
  store.step_traces.Append(row);
  EXPECT_EQ(Summarise(store).steps, std::vector<int64_t>{7});
}

TEST(Summarise, ASliceAtTimeZeroDoesNotStretchARealCapture) {
  store::TraceStore store;
  for (const int64_t begin : {int64_t{0}, int64_t{1736408883704643212}}) {
    store::SliceTable::Row slice;
    slice.begin_ns = begin;
    slice.dur_ns = 10;
    store.slices.Append(slice);
  }
  EXPECT_EQ(Summarise(store).extent.begin_ns, 1736408883704643212);
}

}  // namespace
}  // namespace steplens::analysis
