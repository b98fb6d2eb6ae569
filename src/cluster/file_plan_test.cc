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

// The same ranks, whose texts both members share.
class SharedFilePlanTest : public testing::Test {
 protected:
  SharedFilePlanTest() {
    for (RankTexts& texts : held_) texts.Share();
  }
  void Put(size_t member, uint64_t number, std::string_view text) {
    held_[0].SetOffset(number, held_[member].Put(number, text));
  }
  // To be called after the last text; false if this system shares nothing.
  bool Open() {
    held_[0].SetHolders({0, 0, 1});
    std::vector<SharedPlace> places;
    for (RankTexts& texts : held_) places.push_back(texts.EndSharing().value_or(SharedPlace()));
    for (RankTexts& texts : held_) {
      if (!texts.OpenAll(places).ok()) return false;
    }
    return true;
  }

  std::vector<RankTexts> held_ = [] {
    std::vector<RankTexts> held;
    for (int member = 0; member < 2; ++member) held.emplace_back(1, 3);
    return held;
  }();
};

TEST_F(SharedFilePlanTest, AnybodyCanWriteAnyStretch) {
  const std::string a(3'000'000, 'a');
  const std::string c(3'000'000, 'c');
  Put(0, 0, a);
  Put(1, 2, "-" + c);
  ASSERT_TRUE(Open());
  FilePlan plan(held_[0], 2);
  for (int i = 0; i < 2; ++i) {
    plan.Add("<");
    plan.Add(FilePiece(0, 0, a.size()));
    plan.Add(FilePiece(2, 1, c.size()));
  }
  plan.Add(">");
  const std::vector<std::string> orders = plan.Take();
  EXPECT_EQ(orders.size(), 2u);  // of at least four megabytes each
  for (const RankTexts& writer : held_) {
    std::string file(plan.size(), '?');
    for (const std::string& one : orders) {
      const Status done = CarryOut(one, writer, [&](uint64_t offset, std::string_view bytes) {
        file.replace(offset, bytes.size(), bytes);
        return Status();
      });
      EXPECT_TRUE(done.ok());
    }
    EXPECT_EQ(file, "<" + a + c + "<" + a + c + ">");
  }
}

TEST_F(SharedFilePlanTest, OrdersBeyondWhatIsSharedAreRefused) {
  Put(0, 0, "aa");
  ASSERT_TRUE(Open());
  FilePlan plan(held_[0], 2);
  plan.Add(FilePiece(0, 1, 2));
  const auto nowhere = [](uint64_t, std::string_view) { return Status(); };
  EXPECT_FALSE(CarryOut(plan.Take()[0], held_[1], nowhere).ok());
}

TEST_F(SharedFilePlanTest, WhereOneIsNotLetInTextsAreStillFoundByTheirHolder) {
  Put(0, 0, "aa");
  Put(1, 2, "ccCC");
  ASSERT_TRUE(held_[1].EndSharing().has_value());
  const std::vector<SharedPlace> places = {SharedPlace{"/proc/self/fd/nothing", 1}};
  EXPECT_FALSE(held_[1].OpenAll(places).ok());
  EXPECT_FALSE(held_[1].has_all());
  EXPECT_EQ(held_[1].Find(FilePiece(2, 2, 2)), "CC");
  EXPECT_EQ(held_[1].Find(FilePiece(2, 2, 3)), std::nullopt);
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
