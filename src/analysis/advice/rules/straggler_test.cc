#include "analysis/advice/rules/straggler.h"

#include <gtest/gtest.h>

#include "analysis/advice/finding.h"
#include "analysis/whatif/test_step.h"

namespace steplens::analysis {
namespace {

// A step of 20 ms whose batch takes `loading_us` to load.
TestStep Loading(int64_t rank, int64_t loading_us) {
  TestStep step(20'000, rank);
  step.Host("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 10 + loading_us,
            "user_annotation");
  step.Host("aten::mm", 9'000, 9'030);
  step.Launch(9'010, 9'012, step.stream, 9'020, 19'000);
  return step;
}

TEST(AttributeLateRanks, NamesWhatTakesTheLateRankLonger) {
  store::Job job;
  for (int64_t rank = 0; rank < 3; ++rank)
    job.ranks.push_back(std::move(Loading(rank, rank == 1 ? 8'000 : 1'000).store));
  std::vector<RankEvidence> ranks;
  for (uint32_t rank = 0; rank < 3; ++rank) ranks.emplace_back(job, rank);
  Finding late;
  late.rule = RuleId::kLateRank;
  late.ranks = {1};
  late.saving = Saving{7.0, 7.0};
  late.reason = {"finding.late.unknown"};
  std::vector<Finding> findings{late};
  AttributeLateRanks(ranks, findings);
  ASSERT_FALSE(findings[0].evidence.empty());
  EXPECT_EQ(English(findings[0].evidence[0].text),
            "data loading: 7.000 ms per step more than the others' median");
  EXPECT_EQ(English(findings[0].advice), "look at its data loading first: compare it with a peer");
}

}  // namespace
}  // namespace steplens::analysis
