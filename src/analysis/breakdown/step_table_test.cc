#include "analysis/breakdown/step_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/testing/store_builder.h"

namespace steplens::analysis {
namespace {

TEST(ReadStepTable, WhatWasDeliveredWins) {
  StoreBuilder b;
  b.Kernel("Add", "Add", "AI_CORE", 0, 3000);
  b.store.step_traces.Append({.step = 7, .computing_us = 2.5, .free_us = 1});
  const std::vector<StepRow> steps = ReadStepTable(RankView(b.store));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].step, 7);
  EXPECT_EQ(steps[0].computing_us, 2.5);
  EXPECT_EQ(steps[0].free_us, 1);
  EXPECT_TRUE(std::isnan(steps[0].stage_us));
  EXPECT_EQ(steps[0].memory_us, 0);
}

TEST(ReadStepTable, WithoutAStepTableTheTimelineIsMeasured) {
  StoreBuilder b;
  b.store.info.format = store::Format::kText;
  b.Kernel("Add", "Add", "AI_CORE", 0, 3000);
  b.CommOp("hcom_receive__1", 2000, 5000);
  const std::vector<StepRow> steps = ReadStepTable(RankView(b.store));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].step, store::kNone);
  EXPECT_EQ(steps[0].computing_us, 3);
  EXPECT_EQ(steps[0].comm_not_overlapped_us, 2);
  EXPECT_EQ(steps[0].overlapped_us, 1);
  EXPECT_EQ(steps[0].communication_us, 3);
  EXPECT_EQ(steps[0].bubble_us, 3);
  EXPECT_EQ(steps[0].stage_us, 2);
  EXPECT_EQ(steps[0].comm_exclude_receive_us, 0);
}

}  // namespace
}  // namespace steplens::analysis
