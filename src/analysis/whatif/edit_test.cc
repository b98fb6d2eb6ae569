#include "analysis/whatif/edit.h"

#include <gtest/gtest.h>

#include "analysis/whatif/whatif_answer.h"

namespace steplens::analysis {
namespace {

TEST(ParseScale, TakesPartPatternRankAndFactor) {
  const Result<Edit> edit = ParseScale("kernel:a=b@3=0.25");
  ASSERT_TRUE(edit.ok());
  EXPECT_EQ(edit->selector.part, EditSelector::Part::kKernel);
  EXPECT_EQ(edit->selector.pattern, "a=b");
  EXPECT_EQ(edit->selector.rank, 3);
  EXPECT_DOUBLE_EQ(edit->factor, 0.25);
}

TEST(ParseScale, NamesWhatIsWrong) {
  EXPECT_NE(ParseScale("kernel").error().message.find("PART[:PATTERN]"), std::string::npos);
  EXPECT_NE(ParseScale("kernl=2").error().message.find("kernel"), std::string::npos);
  EXPECT_FALSE(ParseScale("kernel:=2").ok());
  for (const char* factor : {"-1", "nan", "inf", "1e9", "x", ""})
    EXPECT_FALSE(ParseScale(std::string("kernel=") + factor).ok()) << factor;
}

TEST(ParseEdits, KeepsTheirOrderAndStopsAtTheFirstMistake) {
  const auto edits = ParseEdits({.scale = {"comm=2"},
                                 .remove = {"sync", "dataloader"},
                                 .overlap = {"comm:*allReduce*"},
                                 .network = "2x",
                                 .host = "0.5",
                                 .balance = "ranks"});
  ASSERT_TRUE(edits.ok());
  ASSERT_EQ(edits->size(), 7u);
  EXPECT_EQ((*edits)[2].selector.pattern, "*DataLoader*");
  EXPECT_DOUBLE_EQ((*edits)[4].factor, 0.5);
  EXPECT_DOUBLE_EQ((*edits)[5].factor, 2);
  EXPECT_FALSE(ParseEdits({.network = "0x"}).ok());
  EXPECT_FALSE(ParseEdits({.overlap = {"kernel"}}).ok());
  EXPECT_FALSE(ParseEdits({.balance = "hosts"}).ok());
}

TEST(UsualEdits, AreAllUnderstood) { EXPECT_EQ(UsualEdits().size(), 9u); }

}  // namespace
}  // namespace steplens::analysis
