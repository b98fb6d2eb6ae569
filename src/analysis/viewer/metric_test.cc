#include "analysis/viewer/metric.h"

#include <gtest/gtest.h>

#include "analysis/viewer/test_rank.h"

namespace steplens::analysis::viewer {
namespace {

MetricArgs One(const char* name, MetricArgs::Value value) {
  MetricArgs args;
  args.values.emplace(name, std::move(value));
  return args;
}

TEST(MetricArgs, TakesWholeNumbersInAnyForm) {
  EXPECT_EQ(*One("n", int64_t{7}).IntOr("n", 0), 7);
  EXPECT_EQ(*One("n", 7.0).IntOr("n", 0), 7);
  EXPECT_EQ(*One("n", std::string("7")).IntOr("n", 0), 7);
  EXPECT_EQ(*MetricArgs().IntOr("n", 3), 3);
  EXPECT_FALSE(MetricArgs().Int("n")->has_value());
}

TEST(MetricArgs, NamesTheArgumentThatIsWrong) {
  EXPECT_EQ(One("n", 7.5).IntOr("n", 0).error().message, "argument 'n' is not a whole number");
  EXPECT_EQ(One("n", std::string("x")).DoubleOr("n", 0).error().message,
            "argument 'n' is not a number");
  EXPECT_EQ(One("n", 1.5).TextOr("n", "").error().message, "argument 'n' is not a text");
  EXPECT_FALSE(One("n", 1e300).Int("n").ok());
}

TEST(MetricArgs, ReadsListsOfNumbers) {
  EXPECT_EQ(*One("r", std::string("5,0-2, 1")).IntList("r"), (std::vector<int64_t>{0, 1, 2, 5}));
  EXPECT_EQ(*One("r", int64_t{4}).IntList("r"), std::vector<int64_t>{4});
  EXPECT_TRUE(MetricArgs().IntList("r")->empty());
  EXPECT_EQ(One("r", std::string("3-1")).IntList("r").error().message,
            "argument 'r' is not a list of whole numbers such as 0,3-7");
  EXPECT_EQ(One("r", std::string("0-9223372036854775807")).IntList("r").error().message,
            "argument 'r' is not a list of at most 65536 numbers");
}

TEST(ComputeMetric, SaysWhatIsNotThere) {
  TestRank rank;
  const store::Job job = JobOf(rank);
  EXPECT_EQ(ComputeMetric("nonsense", {}, job).error().message, "there is no metric 'nonsense'");
  EXPECT_EQ(ComputeMetric("overall", One("rank", int64_t{9}), job).error().message,
            "there is no rank 9");
  EXPECT_EQ(ComputeMetric("overall", {}, store::Job()).error().message, "no rank has been read");
  EXPECT_EQ(ComputeMetric("overview", One("rank", std::string("x")), job).error().message,
            "argument 'rank' is not a whole number");
  EXPECT_EQ(ComputeMetric("expert", One("origin_ns", store::kNone), job).error().message,
            "argument 'origin_ns' is not a time");
  MetricArgs range = One("t0", int64_t{5});
  range.values.emplace("t1", int64_t{4});
  EXPECT_EQ(ComputeMetric("overall", range, job).error().message, "argument 't0' is after 't1'");
}

// Every metric takes a capture that has nothing, and one that has a little of everything.
TEST(ComputeMetric, WhateverTheCaptureLacksTablesAreWhole) {
  TestRank full;
  full.Slice(full.host, 0, 100, "aten::linear", "cpu_op");
  full.Flow("async_npu", full.host, 10, full.stream, 50);
  full.Task("MatMul1", "MatMulV2", 50, 80);
  full.Comm("hcom_allReduce__001_0_1", 60, 120);
  full.Step(1, 0, 200);
  store::Job empty;
  empty.ranks.emplace_back();
  store::Job one = JobOf(full);
  for (const MetricEntry& metric : Metrics()) {
    for (const store::Job* job : {&empty, &one}) {
      const Result<MetricAnswer> answer = ComputeMetric(metric.name, {}, *job);
      ASSERT_TRUE(answer.ok()) << metric.name << ": " << answer.error().message;
      EXPECT_TRUE(HasEqualColumns(*answer)) << metric.name;
      EXPECT_FALSE(answer->definition.empty()) << metric.name;
    }
  }
}

TEST(OriginNs, IsTheFirstEventOfAnyRankCountersIncluded) {
  TestRank a;
  TestRank b(1);
  constexpr int64_t kNowNs = 1700000000000000000;
  a.Slice(a.host, kNowNs + 100, kNowNs + 200, "x");
  b.Slice(b.host, kNowNs + 150, kNowNs + 200, "x");
  b.Slice(b.host, 0, 5, "outlier");
  b.store.counters.Append({.track = b.host, .ts_ns = kNowNs + 30, .value = 1});
  EXPECT_EQ(OriginNs(JobOf(a, b)), kNowNs + 30);
  EXPECT_EQ(OriginNs(store::Job()), 0);
}

}  // namespace
}  // namespace steplens::analysis::viewer
