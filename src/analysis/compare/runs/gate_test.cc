#include "analysis/compare/runs/gate.h"

#include <gtest/gtest.h>

#include "analysis/compare/runs/gate_reports.h"
#include "analysis/compare/runs/test_runs.h"

namespace steplens::analysis::runs {
namespace {

GateRule Rule(std::string_view text) {
  const Result<GateRule> rule = ParseGateRule(text);
  EXPECT_TRUE(rule.ok()) << text;
  return rule.ok() ? *rule : GateRule{};
}

std::vector<GateRule> Rules(std::initializer_list<std::string_view> texts) {
  std::vector<GateRule> out;
  for (const std::string_view text : texts) out.push_back(Rule(text));
  return out;
}

std::string ErrorOf(std::string_view text) {
  const Result<GateRule> rule = ParseGateRule(text);
  return rule.ok() ? "" : rule.error().message;
}

TEST(ParseGateRule, ReadsTargetsPatternsAndLimits) {
  const GateRule e2e = Rule("e2e>3%");
  EXPECT_EQ(e2e.target, "e2e");
  EXPECT_DOUBLE_EQ(e2e.limit, 0.03);
  EXPECT_TRUE(e2e.is_share);
  const GateRule kernel = Rule(" kernel:MatMul* > 0.5 ms ");
  EXPECT_EQ(kernel.target, "kernel");
  EXPECT_EQ(kernel.pattern, "MatMul*");
  EXPECT_DOUBLE_EQ(kernel.limit, 5e5);
  EXPECT_FALSE(kernel.is_share);
  EXPECT_DOUBLE_EQ(Rule("memory>2GB").limit, 2.0 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(Rule("e2e>1s").limit, 1e9);
  EXPECT_DOUBLE_EQ(Rule("jitter>20us").limit, 2e4);
  // The last > is the sign: names may hold others.
  EXPECT_EQ(Rule("operator:a->b>1%").pattern, "a->b");
}

TEST(ParseGateRule, ErrorsQuoteTheTextAndSayWhatIsExpected) {
  EXPECT_EQ(ErrorOf("e2e"),
            "--fail-on 'e2e': there is no '>'; expected TARGET>LIMIT, such as 'e2e>3%', "
            "'kernel:MatMul*>5%', 'memory>200MB'");
  EXPECT_NE(ErrorOf(">3%").find("nothing stands before '>'"), std::string::npos);
  EXPECT_NE(ErrorOf("e2e>").find("nothing stands behind '>'"), std::string::npos);
  EXPECT_NE(ErrorOf("e2e>3").find("'3' has no unit"), std::string::npos);
  EXPECT_NE(ErrorOf("e2e>x%").find("'x' is not a number"), std::string::npos);
  EXPECT_NE(ErrorOf("e2e>-1%").find("'-1' is not a number of 0 or more"), std::string::npos);
  EXPECT_NE(ErrorOf("e2e>5MB").find("'e2e' cannot be measured in MB"), std::string::npos);
  EXPECT_NE(ErrorOf("memory>5ms").find("'memory' cannot be measured in ms"), std::string::npos);
  EXPECT_NE(ErrorOf("kernel>5%").find("'kernel' needs a name, as in 'kernel:*'"),
            std::string::npos);
  EXPECT_NE(ErrorOf("e2e:x>5%").find("'e2e' takes no name"), std::string::npos);
  EXPECT_NE(ErrorOf("kernel:>5%").find("no name follows 'kernel:'"), std::string::npos);
  EXPECT_NE(ErrorOf("kernal:x>5%").find("did you mean 'kernel'?"), std::string::npos);
  EXPECT_EQ(ParseGateRule("x").error().code, ErrorCode::kInvalidArgument);
}

TEST(ApplyGate, IsBreachedBeyondTheLimitOnly) {
  TestJob slower{.seed = 2};
  slower.kernels[0].second *= 1.1;  // 4 of 80 ms
  const RunSummary base = TestJob{.seed = 1}.Run();
  const RunSummary run = slower.Run();
  const GateOutcome gate = ApplyGate(base, run,
                                     Rules({"e2e>3%", "e2e>8%", "kernel:Mat*>5%", "kernel:Conv*>5%",
                                            "free>3%", "computing>2ms", "computing>9ms"}));
  const RuleState expected[] = {RuleState::kBreached, RuleState::kPassed, RuleState::kBreached,
                                RuleState::kPassed,   RuleState::kPassed, RuleState::kBreached,
                                RuleState::kPassed};
  for (size_t i = 0; i < gate.rules.size(); ++i)
    EXPECT_EQ(gate.rules[i].state, expected[i]) << gate.rules[i].rule.text;
  EXPECT_TRUE(gate.is_breached());
  ASSERT_EQ(gate.rules[2].Lines().size(), 1u);
  EXPECT_TRUE(gate.rules[2].Lines()[0].starts_with("'kernel:Mat*>5%' is breached by MatMul: 40."))
      << gate.rules[2].Lines()[0];
  // What became faster breaches nothing.
  EXPECT_FALSE(ApplyGate(run, base, Rules({"e2e>3%", "kernel:*>5%"})).is_breached());
}

TEST(ApplyGate, MemoryJitterRanksAndCommunication) {
  TestJob changed{.ranks = 4,
                  .steps = 20,
                  .seed = 2,
                  .noise = 0.05,
                  .allreduce_ns = 15e6,
                  .memory_bytes = 8.4e9,
                  .slow_rank = 1.3};
  const TestJob quiet{.ranks = 4, .steps = 20, .seed = 1, .noise = 0.005};
  const GateOutcome gate =
      ApplyGate(quiet.Run(), changed.Run(),
                Rules({"memory>2%", "jitter>50%", "comm:allReduce*>10%", "rank:3>5%"}));
  for (const RuleOutcome& rule : gate.rules)
    EXPECT_EQ(rule.state, RuleState::kBreached) << rule.rule.text;
}

TEST(ApplyGate, APatternLeavesOutNamesOfNoWeight) {
  TestJob base{.seed = 1};
  base.kernels.emplace_back("Tiny", 5e3);  // of a step of 80 ms
  TestJob slower = base;
  slower.seed = 2;
  slower.kernels.back().second = 1e4;
  const auto state = [&](std::string_view rule) {
    return ApplyGate(base.Run(), slower.Run(), Rules({rule})).rules[0].state;
  };
  EXPECT_EQ(state("kernel:*>5%"), RuleState::kPassed);
  EXPECT_EQ(state("kernel:Tin*>5%"), RuleState::kPassed);
  EXPECT_EQ(state("kernel:Tiny>5%"), RuleState::kBreached);  // it was spelt out
  EXPECT_EQ(state("kernel:Nope*>5%"), RuleState::kNothingMatched);
}

TEST(ApplyGate, PatternsThatMatchNothingAreNamed) {
  const GateOutcome gate =
      ApplyGate(TestJob{.seed = 1}.Run(), TestJob{.seed = 2}.Run(), Rules({"kernel:Nope*>1%"}));
  EXPECT_EQ(gate.rules[0].state, RuleState::kNothingMatched);
  EXPECT_FALSE(gate.is_breached());
  EXPECT_EQ(gate.rules[0].Lines(),
            (std::vector<std::string>{"'kernel:Nope*>1%' matches nothing in either run"}));
}

TEST(ApplyGate, FewStepsDecideNothing) {
  const GateOutcome gate =
      ApplyGate(TestJob{.steps = 3, .seed = 1}.Run(),
                TestJob{.steps = 3, .seed = 2, .free_ns = 30e6}.Run(), Rules({"e2e>3%"}));
  EXPECT_EQ(gate.rules[0].state, RuleState::kUndecided);
  EXPECT_FALSE(gate.is_breached());
  EXPECT_NE(
      gate.rules[0].Lines()[0].find("not enough steps to tell noise (3 against 3, 5 are needed)"),
      std::string::npos);
}

// Two halves of one run's steps, drawn anew 200 times: nothing changed.
TEST(ApplyGate, UnchangedRunsRaiseItAtMostTwiceIn200) {
  const std::vector<GateRule> rules =
      Rules({"e2e>1%", "computing>1%", "communication>1%", "kernel:*>1%", "memory>0.1%"});
  int alarms = 0;
  for (uint32_t i = 0; i < 200; ++i) {
    // Noise of 5 % makes changes beyond the limits common: only the test holds the gate.
    const RunSummary a =
        TestJob{.ranks = 1, .steps = 12, .seed = 1000 + 2 * i, .noise = 0.05}.Run();
    const RunSummary b =
        TestJob{.ranks = 1, .steps = 12, .seed = 1001 + 2 * i, .noise = 0.05}.Run();
    alarms += ApplyGate(a, b, rules).is_breached() ? 1 : 0;
  }
  EXPECT_LE(alarms, 2);
}

TEST(GateReports, JunitHasACasePerRule) {
  TestJob slower{.seed = 2};
  slower.kernels[0].second *= 1.2;
  const GateOutcome gate = ApplyGate(TestJob{.seed = 1}.Run(), slower.Run(),
                                     Rules({"e2e>3%", "free>50%", "kernel:No<pe>1%"}));
  const std::string xml = ToJunit(gate, "old & \"base\"", "new", false);
  EXPECT_TRUE(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite "));
  EXPECT_NE(xml.find("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), std::string::npos);
  EXPECT_NE(xml.find("new against old &amp; &quot;base&quot;"), std::string::npos) << xml;
  EXPECT_NE(xml.find("name=\"e2e&gt;3%\">\n    <failure message=\"breached\">"), std::string::npos);
  EXPECT_NE(xml.find("name=\"free&gt;50%\"/>"), std::string::npos);
  EXPECT_NE(xml.find("name=\"kernel:No&lt;pe&gt;1%\">\n    <skipped "), std::string::npos);
  EXPECT_NE(ToJunit(gate, "a", "b", true).find("failures=\"2\" errors=\"0\" skipped=\"0\""),
            std::string::npos);
}

TEST(GateReports, MarkdownShowsRulesAndChanges) {
  TestJob slower{.seed = 2};
  slower.kernels[0].first = "Mat|Mul*";
  const RunSummary base = TestJob{.seed = 1}.Run();
  const RunSummary run = slower.Run();
  const std::string page =
      ToMarkdown(ApplyGate(base, run, Rules({"kernel:Mat*>5%"})), CompareRuns(base, run), "a", "b");
  EXPECT_NE(page.find("**Gate: breached**"), std::string::npos);
  EXPECT_NE(page.find("| kernel | Mat\\|Mul\\* | 0.000 us | 40."), std::string::npos) << page;
  EXPECT_NE(page.find("| new | "), std::string::npos);
  EXPECT_NE(page.find("### Step"), std::string::npos);
}

}  // namespace
}  // namespace steplens::analysis::runs
