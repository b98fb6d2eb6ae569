#include "analysis/advice/advisor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/advice/change.h"
#include "analysis/advice/rule.h"
#include "analysis/whatif/test_step.h"

namespace steplens::analysis {
namespace {

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce<script>alert(1)</script>|\"";

// A step of 40 ms: computing for 10 ms, a collective of 10 ms that nothing hides, computing for
// 18 ms, the optimizer, and a wait for it.
TestStep Exposed() {
  TestStep step(40'000);
  step.Host("aten::mm", 5, 30);
  step.Launch(10, 12, step.stream, 20, 10'020);
  step.Launch(14, 16, step.stream2, 10'021, 20'021, kAllReduce);
  step.CommOp(kAllReduce, 10'021'000, 20'021'000, step.stream2);
  step.Launch(18, 20, step.stream, 20'022, 38'022, "backward");
  step.Host("Optimizer.step#SGD.step", 30, 38);
  step.Launch(32, 34, step.stream, 38'023, 38'033, "sgd");
  step.Call("cudaDeviceSynchronize", 40, 38'036);
  step.Kernel("gemm", "", "kernel", 20'000, 10'020'000, 0);
  step.Kernel(kAllReduce, "", "kernel", 10'021'000, 20'021'000, 0);
  step.Kernel("backward", "", "kernel", 20'022'000, 38'022'000, 0);
  step.Kernel("sgd", "", "kernel", 38'023'000, 38'033'000, 0);
  return step;
}

const Finding* FindRule(const AdvisorReport& report, RuleId rule) {
  const auto found = std::find_if(report.findings.begin(), report.findings.end(),
                                  [&](const Finding& one) { return one.rule == rule; });
  return found == report.findings.end() ? nullptr : &*found;
}

TEST(Advisor, ReplaysWhatAFindingAdvises) {
  TestStep step = Exposed();
  const store::Job job = step.Job();
  const Result<AdvisorReport> report = RunAdvisor(job, {});
  ASSERT_TRUE(report.ok());
  EXPECT_DOUBLE_EQ(report->step_ms, 40);
  EXPECT_TRUE(report->is_trusted);
  const Finding* exposed = FindRule(*report, RuleId::kExposedCommunication);
  ASSERT_NE(exposed, nullptr);
  ASSERT_TRUE(exposed->saving && exposed->saving->ms);
  // The collective hides behind the backward pass: its 10 ms and the 2 us around it.
  EXPECT_NEAR(*exposed->saving->ms, 10, 0.01);
  EXPECT_EQ(exposed->confidence, Confidence::kMeasured);
  EXPECT_EQ(PriorityOf(*exposed, report->step_ms), "high");
  EXPECT_NEAR(report->cumulative_saving_ms, 10, 0.01);
}

// The optimizer needs what the collective brings: nothing can run beside it.
TEST(Advisor, TheLastCollectiveHidesBehindNothing) {
  TestStep step(40'000);
  step.Host("aten::mm", 5, 28);
  step.Launch(10, 12, step.stream, 20, 10'020);
  step.Launch(14, 16, step.stream2, 10'021, 20'021, kAllReduce);
  step.CommOp(kAllReduce, 10'021'000, 20'021'000, step.stream2);
  step.Host("Optimizer.step#SGD.step", 30, 38);
  step.Launch(32, 34, step.stream, 20'022, 38'022, "sgd");
  step.Call("cudaDeviceSynchronize", 40, 38'025);
  step.Kernel("gemm", "", "kernel", 20'000, 10'020'000, 0);
  step.Kernel(kAllReduce, "", "kernel", 10'021'000, 20'021'000, 0);
  step.Kernel("sgd", "", "kernel", 20'022'000, 38'022'000, 0);
  const store::Job job = step.Job();
  const AdvisorReport report = *RunAdvisor(job, {});
  EXPECT_EQ(FindRule(report, RuleId::kExposedCommunication), nullptr);
}

TEST(Advisor, AsksOnlyTheRulesThatAreWanted) {
  TestStep step = Exposed();
  const store::Job job = step.Job();
  const AdvisorReport skipped = *RunAdvisor(job, {.skip = {"exposed_communication"}});
  EXPECT_EQ(FindRule(skipped, RuleId::kExposedCommunication), nullptr);
  const AdvisorReport only = *RunAdvisor(job, {.only = {"exposed_communication"}});
  EXPECT_EQ(only.findings.size(), 1u);
  const AdvisorReport schedule = *RunAdvisor(job, {.dimension = AdviceDimension::kSchedule});
  EXPECT_EQ(FindRule(schedule, RuleId::kExposedCommunication), nullptr);
  EXPECT_FALSE(RunAdvisor(job, {.only = {"exposed"}}).ok());
  EXPECT_FALSE(RunAdvisor(store::Job{}, {}).ok());
}

TEST(Advisor, HostileNamesStayTexts) {
  TestStep step = Exposed();
  const store::Job job = step.Job();
  AdvisorReport report = *RunAdvisor(job, {.only = {"exposed_communication"}});
  ASSERT_EQ(report.findings.size(), 1u);
  report.findings[0].subject = {"finding.name", {{"name", kAllReduce}}};
  EXPECT_EQ(AdvisorHtml(report, Language::kEnglish).find("<script>alert"), std::string::npos);
  EXPECT_EQ(AdvisorMarkdown(report, Language::kChinese).find("<script>alert"), std::string::npos);
  EXPECT_NE(AdvisorJson(report, Language::kEnglish).find(R"(|\"")"), std::string::npos);
}

TEST(ChangeOf, IsOnTheRanksOfTheFinding) {
  Finding finding;
  finding.rule = RuleId::kConversion;
  finding.ranks = {3, 5};
  const std::vector<Edit> edits = ChangeOf(finding);
  ASSERT_EQ(edits.size(), 4u);
  EXPECT_EQ(edits[2].selector.rank, 5);
  finding.rule = RuleId::kAffinityApi;
  EXPECT_TRUE(ChangeOf(finding).empty());
}

}  // namespace
}  // namespace steplens::analysis
