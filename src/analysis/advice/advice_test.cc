// What findings promise, on hand-made captures.
#include <gtest/gtest.h>

#include "analysis/advice/rule.h"
#include "analysis/text/catalogue.h"
#include "analysis/viewer/test_rank.h"

namespace steplens::analysis {
namespace {

using viewer::TestRank;

std::vector<Finding> FindingsOf(TestRank& rank) {
  const store::Job job = JobOf(rank);
  return Advise(RankEvidence(job, 0));
}

const Finding* FindRule(const std::vector<Finding>& findings, RuleId rule) {
  for (const Finding& finding : findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

TEST(Rules, HaveATitleInBothLanguages) {
  for (const RuleSpec& rule : Rules()) {
    const std::string key = "rule." + std::string(rule.name);
    EXPECT_TRUE(CatalogueOf(Language::kEnglish).contains(key)) << key;
    EXPECT_TRUE(CatalogueOf(Language::kChinese).contains(key)) << key;
    EXPECT_EQ(RuleName(rule.id), rule.name);
    EXPECT_EQ(rule.find == nullptr, rule.scope == RuleScope::kJob) << key;
  }
}

// 10 us of computing, then 90 us of communication: 10 us can hide, not 90.
TEST(ExposedCommunication, HidesBehindNoMoreComputingThanThereIs) {
  TestRank rank;
  rank.Task("k1", "Add", 0, 10000);
  rank.Comm("hcom_allReduce__001_0_1", 10000, 100000);
  const std::vector<Finding> findings = FindingsOf(rank);
  const Finding* exposed = FindRule(findings, RuleId::kExposedCommunication);
  ASSERT_NE(exposed, nullptr);
  ASSERT_TRUE(exposed->saving.has_value());
  EXPECT_FALSE(exposed->saving->ms.has_value()) << "nobody replayed it";
  EXPECT_DOUBLE_EQ(exposed->saving->at_most_ms, 0.01);
  EXPECT_EQ(exposed->confidence, Confidence::kEstimated);
  EXPECT_EQ(English(exposed->evidence.at(1).text),
            "10.0 us per step of computing that hides no communication yet");
  EXPECT_NE(exposed->evidence.at(1).query.find("FROM breakdown"), std::string::npos);
  ASSERT_EQ(exposed->places.size(), 1u);
  EXPECT_EQ(exposed->places[0].name, "hcom_allReduce__001_0_1");
}

// A step of 147.3 ms on the host and 129.85 ms on the device, 95.962 ms of it communication that
// nothing hides: 65.1 % of the step time that the Overview shows, not 73.9 % of the device's.
TEST(ExposedCommunication, IsAShareOfTheStepTime) {
  TestRank rank;
  rank.Slice(rank.host, 1'000'000, 2'000'000, "a", "cpu_op");
  rank.Slice(rank.host, 3'000'000, 4'000'000, "b", "cpu_op");
  rank.Task("k1", "Add", 5'000'000, 13'900'000);
  rank.Comm("hcom_allReduce__001_0_1", 13'900'000, 109'862'000);
  rank.Task("k2", "Add", 130'000'000, 134'850'000);
  rank.Flow("async_npu", rank.host, 1'000'000, rank.stream, 5'000'000);
  rank.Flow("async_npu", rank.host, 3'000'000, rank.stream, 130'000'000);
  rank.Step(1, 0, 147'300'000);
  const std::vector<Finding> findings = FindingsOf(rank);
  const Finding* exposed = FindRule(findings, RuleId::kExposedCommunication);
  ASSERT_NE(exposed, nullptr);
  EXPECT_TRUE(English(exposed->reason).starts_with("65.1 % of the time"))
      << English(exposed->reason);
  EXPECT_TRUE(English(exposed->evidence.at(0).text).starts_with("95.962 ms per step"))
      << English(exposed->evidence.at(0).text);
}

// A launch that comes late inside of the step, and one long after it.
//   step      |0 -------- 1000|
//   device     |50-150|  |900-1000|                      |9000-9100|
TEST(HostBound, SavesNoMoreThanTheStepsAreFree) {
  TestRank rank;
  rank.Slice(rank.host, 0, 100, "a", "cpu_op");
  rank.Slice(rank.host, 850, 950, "b", "cpu_op");
  rank.Slice(rank.host, 8900, 9000, "c", "cpu_op");
  rank.Task("k1", "Add", 50, 150);
  rank.Task("k2", "Add", 900, 1000);
  rank.Task("k3", "Add", 9000, 9100);
  rank.Flow("async_npu", rank.host, 0, rank.stream, 50);
  rank.Flow("async_npu", rank.host, 850, rank.stream, 900);
  rank.Flow("async_npu", rank.host, 8900, rank.stream, 9000);
  rank.Step(1, 0, 1000);
  const std::vector<Finding> findings = FindingsOf(rank);
  const Finding* late = FindRule(findings, RuleId::kHostBound);
  ASSERT_NE(late, nullptr);
  EXPECT_DOUBLE_EQ(late->saving->at_most_ms, 0.0007) << "700 ns from 150 to 850";
  EXPECT_EQ(late->places.at(0).range.begin_ns, 150);
  EXPECT_EQ(late->places.at(0).name, "Free");
}

// Operators that torch_npu has a faster form of, on captures of different kinds.
TestRank WithSilu(store::Source source, bool has_cann) {
  TestRank rank;
  rank.store.info.source = source;
  rank.Slice(rank.host, 0, 30, "aten::slice", "cpu_op");
  rank.Slice(rank.host, 30, 60, "aten::silu", "cpu_op");
  rank.Slice(rank.host, 60, 100, "aten::mul", "cpu_op");
  rank.Task("k1", "Silu", 50, 150);
  if (has_cann) {
    rank.Slice(rank.ThreadOf("CANN", "Thread 1"), 10, 20, "Node@launch");
  } else {
    rank.store.meta.Append({.name = rank.Text("steplens_version"), .value = rank.Text("1")});
  }
  return rank;
}

TEST(AffinityApi, IsAdviceForTorchNpuOnly) {
  const auto is_named = [](store::Source source, bool has_cann) {
    TestRank rank = WithSilu(source, has_cann);
    return FindRule(FindingsOf(rank), RuleId::kAffinityApi) != nullptr;
  };
  EXPECT_TRUE(is_named(store::Source::kAscendPt, true));
  EXPECT_FALSE(is_named(store::Source::kAscendMs, true)) << "MindSpore has no torch_npu";
  EXPECT_FALSE(is_named(store::Source::kAscendPt, false)) << "a machine without an accelerator";
}

// Its files name an accelerator, and the activities are what was asked for.
TEST(Advise, SaysNothingOfCannOnARecordingOfACpu) {
  const auto rules_of = [](std::string_view device) {
    TestRank rank = WithSilu(store::Source::kAscendPt, false);
    const auto add = [&](std::string_view name, std::string_view value) {
      rank.store.meta.Append({.name = rank.Text(name), .value = rank.Text(value)});
    };
    add("steplens_host.device", device);
    add("config.common_config.activities", R"(["ProfilerActivity.CPU","ProfilerActivity.NPU"])");
    add("ENV_VARIABLES", R"({"ACLNN_CACHE_LIMIT": "", "HOST_CACHE_CAPACITY": ""})");
    const std::vector<Finding> findings = FindingsOf(rank);
    return std::pair(FindRule(findings, RuleId::kAffinityApi) != nullptr,
                     FindRule(findings, RuleId::kEnvironment) != nullptr);
  };
  EXPECT_EQ(rules_of("npu"), std::pair(true, true));
  EXPECT_EQ(rules_of("cpu"), std::pair(false, false));
}

TEST(Aicpu, CountsKernelsOfTheSteps) {
  TestRank rank;
  rank.Slice(rank.host, 0, 100, "a", "cpu_op");
  rank.Slice(rank.stream, 50, 40050, "k1");
  rank.Kernel("k1", "Index", "AI_CPU", 50, 40050);
  rank.Flow("async_npu", rank.host, 0, rank.stream, 50);
  rank.Slice(rank.stream, 90000, 130000, "k2");
  rank.Kernel("k2", "Index", "AI_CPU", 90000, 130000);
  rank.Step(1, 0, 50000);
  const std::vector<Finding> findings = FindingsOf(rank);
  const Finding* aicpu = FindRule(findings, RuleId::kAicpu);
  ASSERT_NE(aicpu, nullptr);
  EXPECT_EQ(English(aicpu->subject), "1 operator on the AI CPU");
  EXPECT_DOUBLE_EQ(aicpu->saving->at_most_ms, 0.04);
}

TEST(SortBySaving, PutsWhatIsHiddenLast) {
  std::vector<Finding> findings(3);
  findings[0].rule = RuleId::kFusion;
  findings[1].rule = RuleId::kLateRank;
  findings[1].saving = Saving{5.0, 5.0};
  findings[1].is_hidden = true;
  findings[2].rule = RuleId::kAicpu;
  findings[2].saving = Saving{std::nullopt, 1.0};
  SortBySaving(findings);
  EXPECT_EQ(findings[0].rule, RuleId::kAicpu);
  EXPECT_EQ(findings[1].rule, RuleId::kFusion);
  EXPECT_EQ(findings[2].rule, RuleId::kLateRank);
}

}  // namespace
}  // namespace steplens::analysis
