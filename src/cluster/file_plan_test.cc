#include "cluster/file_plan.h"

#include <gtest/gtest.h>

#include <map>

namespace steplens::cluster {
namespace {

using analysis::cluster::FilePiece;

// Three ranks of one recipe; the last is with the second of two members.
class FilePlanTest : public testing::Test {
 protected:
  FilePlanTest() : held_{RankTexts(1, 3), RankTexts(1, 3)} {
    held_[0].SetHolders({0, 0, 1});
    held_[0].Put(0, "aaAA");
    held_[0].Put(1, "bbBB");
    held_[1].Put(2, "ccCC");
  }

  // What all members write, put together; every byte once.
  std::string Write(const std::vector<FilePiece>& pieces) {
    FilePlan plan(held_[0], held_.size());
    for (const FilePiece& piece : pieces) plan.Add(piece);
    const std::vector<std::string> orders = plan.Take();
    std::map<uint64_t, std::string> stretches;
    for (size_t member = 0; member < held_.size(); ++member) {
      const Status done =
          CarryOut(orders[member], held_[member], [&](uint64_t offset, std::string_view bytes) {
            EXPECT_TRUE(stretches.emplace(offset, bytes).second);
            return Status();
          });
      EXPECT_TRUE(done.ok());
    }
    written_ = stretches.size();
    std::string file;
    for (const auto& [offset, bytes] : stretches) {
      EXPECT_EQ(offset, file.size());
      file += bytes;
    }
    EXPECT_EQ(plan.size(), file.size());
    return file;
  }

  std::vector<RankTexts> held_;
  size_t written_ = 0;
};

TEST_F(FilePlanTest, StretchesOfAllMembersAreTheFile) {
  EXPECT_EQ(Write({"{", FilePiece(2, 0, 2), ", ", FilePiece(0, 0, 2), ", ", FilePiece(1, 2, 2),
                   ", ", FilePiece(2, 2, 2), "}"}),
            "{cc, aa, BB, CC}");
  EXPECT_EQ(written_, 3u);
}

TEST_F(FilePlanTest, BytesAloneAreTheRoots) {
  EXPECT_EQ(Write({"a", "b"}), "ab");
  EXPECT_EQ(written_, 1u);
  EXPECT_EQ(Write({}), "");
  EXPECT_EQ(written_, 0u);
}

TEST_F(FilePlanTest, LongStretchesComeInPieces) {
  const std::string text(3'000'000, 'x');
  held_[1].Put(2, text);
  EXPECT_EQ(Write({"<", FilePiece(2, 0, 1'500'000), FilePiece(2, 1'500'000, 1'500'000), ">"}),
            "<" + text + ">");
  EXPECT_GT(written_, 1u);
}

TEST_F(FilePlanTest, OrdersThatFitNothingAreRefused) {
  FilePlan plan(held_[0], 2);
  plan.Add("{");
  plan.Add(FilePiece(0, 2, 2));
  const std::string orders = plan.Take()[0];
  const auto nowhere = [](uint64_t, std::string_view) { return Status(); };
  EXPECT_TRUE(CarryOut(orders, held_[0], nowhere).ok());
  EXPECT_FALSE(CarryOut(orders, held_[1], nowhere).ok());  // does not hold the text
  for (size_t size = 1; size < orders.size(); ++size)
    EXPECT_FALSE(CarryOut(std::string_view(orders).substr(0, size), held_[0], nowhere).ok())
        << size;
  EXPECT_FALSE(CarryOut(orders + "x", held_[0], nowhere).ok());
}

}  // namespace
}  // namespace steplens::cluster
