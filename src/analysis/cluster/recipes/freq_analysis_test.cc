#include "analysis/cluster/recipes/recipe_testing.h"
#include "analysis/cluster/recipes/recipes.h"

namespace steplens::analysis::cluster {
namespace {

// A capture from 0 to 100 ns with a new frequency every 25 ns, that computes until `pause_ns` and
// again in the last 25 ns.
StoreBuilder MakeRank(std::initializer_list<double> frequencies_mhz, int64_t pause_ns = 100) {
  StoreBuilder rank;
  const store::TrackId process = rank.Process("AI Core Freq");
  const store::TrackId series = rank.Thread(process, "AI Core Freq");
  int64_t ts_ns = 0;
  for (const double mhz : frequencies_mhz) {
    rank.store.counters.Append({.track = series, .ts_ns = ts_ns, .value = mhz});
    ts_ns += 25;
  }
  rank.Kernel("mm", "MatMulV2", "AI_CORE", 0, pause_ns);
  if (pause_ns < 75) rank.Kernel("mm", "MatMulV2", "AI_CORE", 75, 100);
  return rank;
}

TEST(FreqAnalysis, SaysHowLongTheClockWasLow) {
  StoreBuilder normal = MakeRank({1650, 1650, 1650, 1650});
  StoreBuilder idle = MakeRank({1650, 800, 1650, 1650});
  StoreBuilder slow = MakeRank({1650, 1400, 1400, 1650});
  const Answer answer = AskRecipe(FreqAnalysisRecipe(), {}, {&normal, &idle, &slow});
  const table::Table& free = TableOf(answer, "FreeFrequencyRanks");
  ASSERT_EQ(free.rows(), 1u);
  EXPECT_EQ(Cell(free, "rankId", 0), "1");
  EXPECT_EQ(Cell(free, "aicoreFrequency", 0), "[800, 1650]");
  EXPECT_EQ(Cell(free, "timeBelowRated(%)", 0), "25");
  const table::Table& abnormal = TableOf(answer, "AbnormalFrequencyRanks");
  ASSERT_EQ(abnormal.rows(), 1u);
  EXPECT_EQ(Cell(abnormal, "rankId", 0), "2");
  EXPECT_EQ(Cell(abnormal, "ratedFrequency", 0), "1650");
  EXPECT_EQ(Cell(abnormal, "timeBelowRated(%)", 0), "50");
}

TEST(FreqAnalysis, TellsWhetherTheCoresHadWorkAtTheLowClock) {
  StoreBuilder rank = MakeRank({1800, 800, 1800, 1800});  // computes all the time
  StoreBuilder idle = MakeRank({1800, 800, 1800, 1800}, 25);
  const Answer answer = AskRecipe(FreqAnalysisRecipe(), {}, {&rank, &idle});
  const table::Table& free = TableOf(answer, "FreeFrequencyRanks");
  ASSERT_EQ(free.rows(), 2u);
  EXPECT_EQ(Cell(free, "timeBelowRated(%)", 0), "25");
  EXPECT_EQ(Cell(free, "computingBelowRated(%)", 0), "25");
  EXPECT_EQ(Cell(free, "timeBelowRated(%)", 1), "25");
  EXPECT_EQ(Cell(free, "computingBelowRated(%)", 1), "0");
}

TEST(FreqAnalysis, AJobThatIdlesMostOfTheTimeIsNotRatedByItsIdleClock) {
  StoreBuilder rank = MakeRank({800, 800, 800, 1800});
  const Answer answer = AskRecipe(FreqAnalysisRecipe(), {}, {&rank});
  EXPECT_EQ(Cell(TableOf(answer, "FreeFrequencyRanks"), "ratedFrequency", 0), "1800");
}

TEST(FreqAnalysis, CompatTakesEveryOtherChipForAbnormal) {
  StoreBuilder rank = MakeRank({1650});
  Options compat;
  compat.compat = true;
  EXPECT_EQ(
      TableOf(AskRecipe(FreqAnalysisRecipe(), compat, {&rank}), "AbnormalFrequencyRanks").rows(),
      1u);
  EXPECT_EQ(TableOf(AskRecipe(FreqAnalysisRecipe(), {}, {&rank}), "AbnormalFrequencyRanks").rows(),
            0u);
}

}  // namespace
}  // namespace steplens::analysis::cluster
