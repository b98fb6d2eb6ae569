#include "cluster/file_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace steplens::cluster {
namespace {

using analysis::cluster::FilePiece;

// Three ranks of one recipe; the last is with the second of two members.
class FilePlanTest : public testing::Test {
 protected:
  FilePlanTest() {
    for (int member = 0; member < 2; ++member) held_.emplace_back(1, 3);
    held_[0].SetHolders({0, 0, 1});
    held_[0].Put(0, "aaAA");
    held_[0].Put(1, "bbBB");
    held_[1].Put(2, "ccCC");
  }

  // What all members write, put together; every byte once.
  std::string Write(const std::vector<FilePiece>& pieces) {
    std::map<uint64_t, std::string> stretches;
    const WriteAt write = [&](uint64_t offset, std::string_view bytes) {
      EXPECT_TRUE(stretches.emplace(offset, bytes).second);
      return Status();
    };
    FilePlan plan(held_[0], held_.size(), write);
    for (const FilePiece& piece : pieces) EXPECT_TRUE(plan.Add(piece).ok());
    at_once_ = stretches.size();
    const std::vector<std::string> orders = plan.Take();
    for (size_t member = 0; member < held_.size(); ++member)
      EXPECT_TRUE(CarryOut(orders[member], held_[member], write).ok());
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
  size_t at_once_ = 0;  // of them, before anybody got orders
};

Status Nowhere(uint64_t, std::string_view) { return {}; }

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

TEST_F(FilePlanTest, ManyBytesInARowAreWrittenAtOnce) {
  const std::string many(300'000, 'm');
  EXPECT_EQ(Write({"<", FilePiece(2, 0, 2), many, "-", many, ",", FilePiece(2, 2, 2), ">"}),
            "<cc" + many + "-" + many + ",CC>");
  EXPECT_EQ(at_once_, 2u);
  EXPECT_EQ(written_, 4u);
}

TEST_F(FilePlanTest, BytesThatCannotBeWrittenEndIt) {
  FilePlan plan(held_[0], 2,
                [](uint64_t, std::string_view) -> Status { return Error{ErrorCode::kIo, "full"}; });
  EXPECT_TRUE(plan.Add("few").ok());
  EXPECT_FALSE(plan.Add(std::string(300'000, 'm')).ok());
}

TEST_F(FilePlanTest, LongStretchesComeInPieces) {
  const std::string text(3'000'000, 'x');
  held_[1].Put(2, text);
  EXPECT_EQ(Write({"<", FilePiece(2, 0, 1'500'000), FilePiece(2, 1'500'000, 1'500'000), ">"}),
            "<" + text + ">");
  EXPECT_GT(written_, 1u);
}

// The same ranks, where each member may look at the texts of both.
class SharedFilePlanTest : public testing::Test {
 protected:
  void Put(size_t member, uint64_t number, std::string_view text) {
    held_[0].SetOffset(number, held_[member].Put(number, text));
  }
  void Open() {
    held_[0].SetHolders({0, 0, 1});
    const std::vector<SharedPlace> places = {*held_[0].place(), *held_[1].place()};
    for (RankTexts& texts : held_) ASSERT_TRUE(texts.Open(places).ok());
  }

  std::vector<RankTexts> held_ = [] {
    std::vector<RankTexts> held;
    for (int member = 0; member < 2; ++member) held.emplace_back(1, 3, /*is_shared=*/true);
    return held;
  }();
};

TEST_F(SharedFilePlanTest, AnybodyCanWriteTheWholeFile) {
  const std::string a(3'000'000, 'a');
  const std::string c(3'000'000, 'c');
  Put(0, 0, "aA");
  Put(0, 1, a);
  Put(1, 2, "-" + c);
  Open();
  FilePlan plan(held_[0], 2, Nowhere);
  for (const FilePiece& piece : {FilePiece("<"), FilePiece(1, 0, a.size()), FilePiece(0, 1, 1),
                                 FilePiece(2, 1, c.size()), FilePiece(">")})
    EXPECT_TRUE(plan.Add(piece).ok());
  const std::vector<std::string> orders = plan.Take();
  EXPECT_EQ(orders[1], "");
  for (const RankTexts& writer : held_) {
    std::string file;
    const Status done = CarryOut(orders[0], writer, [&](uint64_t offset, std::string_view bytes) {
      EXPECT_EQ(offset, file.size());
      file += bytes;
      return Status();
    });
    EXPECT_TRUE(done.ok());
    EXPECT_EQ(file, "<" + a + "A" + c + ">");
  }
}

TEST_F(SharedFilePlanTest, OrdersForWhoCannotLookAreRefused) {
  Put(1, 2, "cc");
  Open();
  FilePlan plan(held_[0], 2, Nowhere);
  EXPECT_TRUE(plan.Add(FilePiece(2, 0, 2)).ok());
  const std::string orders = plan.Take()[0];
  EXPECT_TRUE(CarryOut(orders, held_[1], Nowhere).ok());
  EXPECT_FALSE(CarryOut(orders, RankTexts(1, 3), Nowhere).ok());
}

TEST_F(SharedFilePlanTest, WhereOneIsNotLetInTextsAreStillFoundByTheirHolder) {
  Put(0, 0, "aa");
  Put(1, 2, "ccCC");
  SharedPlace place = *held_[0].place();
  ++place.id;
  EXPECT_FALSE(held_[1].Open({&place, 1}).ok());
  EXPECT_FALSE(held_[1].has_all());
  EXPECT_EQ(held_[1].Find(FilePiece(2, 2, 2)), "CC");
  EXPECT_EQ(held_[1].Find(FilePiece(2, 2, 3)), std::nullopt);
  EXPECT_EQ(held_[1].Find(FilePiece(0, 0, 2)), std::nullopt);
}

TEST(RankTexts, OfMemoryThatIsNotSharedThereIsNoPlace) {
  RankTexts texts(1, 1);
  texts.Put(0, "text");
  EXPECT_FALSE(texts.place().has_value());
  EXPECT_TRUE(texts.Open({}).ok());
  EXPECT_EQ(texts.Find(FilePiece(0, 1, 3)), "ext");
}

TEST_F(FilePlanTest, OrdersThatFitNothingAreRefused) {
  FilePlan plan(held_[0], 2, Nowhere);
  EXPECT_TRUE(plan.Add("{").ok());
  EXPECT_TRUE(plan.Add(FilePiece(0, 2, 2)).ok());
  const std::string orders = plan.Take()[0];
  EXPECT_TRUE(CarryOut(orders, held_[0], Nowhere).ok());
  EXPECT_FALSE(CarryOut(orders, held_[1], Nowhere).ok());  // does not hold the text
  for (size_t size = 1; size < orders.size(); ++size)
    EXPECT_FALSE(CarryOut(std::string_view(orders).substr(0, size), held_[0], Nowhere).ok())
        << size;
  EXPECT_FALSE(CarryOut(orders + "x", held_[0], Nowhere).ok());
}

}  // namespace
}  // namespace steplens::cluster
