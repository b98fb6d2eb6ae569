#include "open/numbering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steplens::opening {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

readers::RankSource Found(std::string path, int64_t rank, size_t given = 0) {
  readers::RankSource source;
  source.path = std::move(path);
  source.rank = rank;
  source.given = given;
  return source;
}

// "rank path", in order.
std::vector<std::string> Shown(const Captures& captures) {
  std::vector<std::string> out;
  for (const Capture& capture : captures.ranks)
    out.push_back(std::to_string(capture.rank) + " " + capture.source.path);
  return out;
}

TEST(NumberCaptures, RanksComeInTheOrderOfTheirNumbers) {
  const Captures captures = NumberCaptures({Found("a", 7), Found("b", 0)});
  EXPECT_THAT(Shown(captures), ElementsAre("0 b", "7 a"));
  EXPECT_THAT(captures.notes, IsEmpty());
  EXPECT_THAT(captures.ignored, IsEmpty());
}

TEST(NumberCaptures, OfARankBelowOnePathTheNewestIsUsed) {
  const Captures captures = NumberCaptures({Found("j/h_1_20250102000000000_ascend_pt", 3),
                                            Found("j/h_2_20250101000000000_ascend_pt", 3),
                                            Found("j/h_3_20250101000000000_ascend_pt", 4)});
  EXPECT_THAT(Shown(captures), ElementsAre("3 j/h_1_20250102000000000_ascend_pt",
                                           "4 j/h_3_20250101000000000_ascend_pt"));
  ASSERT_EQ(captures.ignored.size(), 1u);
  EXPECT_EQ(captures.ignored[0].path, "j/h_2_20250101000000000_ascend_pt");
  EXPECT_EQ(captures.ignored[0].note,
            "rank 3 was captured more than once; j/h_1_20250102000000000_ascend_pt is used");
  EXPECT_FALSE(captures.ignored[0].is_lost);
  EXPECT_THAT(captures.notes,
              ElementsAre("1 capture of ranks that were captured more than once is left out, the "
                          "newest is used (rank 3: j/h_1_20250102000000000_ascend_pt is used, "
                          "j/h_2_20250101000000000_ascend_pt is not)"));
}

TEST(NumberCaptures, WithoutATimeTheLastByNameIsUsed) {
  const Captures captures = NumberCaptures({Found("a", 0), Found("b", 0), Found("c", 0)});
  EXPECT_THAT(Shown(captures), ElementsAre("0 c"));
  EXPECT_THAT(captures.notes, ElementsAre("2 captures of ranks that were captured more than once "
                                          "are left out, the last by name is used (rank 0: c is "
                                          "used, b is not)"));
}

TEST(NumberCaptures, WhoGivesTwoPathsSeesBoth) {
  const Captures captures = NumberCaptures(
      {Found("old/a", 0, 0), Found("old/b", 1, 0), Found("new/a", 0, 1), Found("new/c", 2, 1)});
  EXPECT_THAT(Shown(captures), ElementsAre("0 old/a", "1 old/b", "2 new/c", "3 new/a"));
  EXPECT_EQ(captures.ranks[3].number_from, NumberFrom::kRepeated);
  EXPECT_THAT(captures.ignored, IsEmpty());
  EXPECT_THAT(captures.notes, ElementsAre("new/a repeats rank 0; it is shown as rank 3"));
}

TEST(NumberCaptures, SeveralThatRepeatRanksAreOneSentence) {
  const Captures captures = NumberCaptures(
      {Found("old/a", 0, 0), Found("old/b", 1, 0), Found("new/a", 0, 1), Found("new/b", 1, 1)});
  EXPECT_THAT(captures.notes,
              ElementsAre("2 captures repeat ranks of another path and got numbers of their own "
                          "(new/a repeats rank 0; it is shown as rank 2)"));
}

TEST(NumberCaptures, CapturesThatDoNotSayTheirRankFillTheGaps) {
  const Captures captures = NumberCaptures(
      {Found("a", store::kNone), Found("b", 1), Found("c", -1), Found("d", store::kNone)});
  EXPECT_THAT(Shown(captures), ElementsAre("0 a", "1 b", "2 c", "3 d"));
  EXPECT_EQ(captures.ranks[0].number_from, NumberFrom::kFree);
  EXPECT_EQ(captures.ranks[1].number_from, NumberFrom::kFiles);
  EXPECT_THAT(captures.notes, IsEmpty());
}

TEST(NumberCaptures, TheUsersNumbersCountMoreThanThoseOfFiles) {
  const Captures captures = NumberCaptures({Found("a", 0), Found("b", 0), Found("c", store::kNone)},
                                           {{"b", 5}, {"c", 0}});
  EXPECT_THAT(Shown(captures), ElementsAre("0 c", "1 a", "5 b"));
  EXPECT_EQ(captures.ranks[0].number_from, NumberFrom::kFiles);
}

}  // namespace
}  // namespace steplens::opening
