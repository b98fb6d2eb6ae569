#include "cluster/ranks.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "cluster/part_cache.h"

namespace steplens::cluster {
namespace {

TEST(ParseRankList, TakesNumbersRangesAndBlanks) {
  const auto list = ParseRankList(" 0-2, 7,16 - 17");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(**list, (std::vector<int64_t>{0, 1, 2, 7, 16, 17}));
  const auto all = ParseRankList("all");
  ASSERT_TRUE(all.ok());
  EXPECT_FALSE(all->has_value());
}

TEST(ParseRankList, RefusesWhatIsNoList) {
  for (const char* text : {"", "x", "1-", "-1", "3-1", "1,,2", "1;2", "0-99999999999"}) {
    const auto list = ParseRankList(text);
    ASSERT_FALSE(list.ok()) << text;
    EXPECT_EQ(list.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(list.error().message.find("0-7,16"), std::string::npos);
  }
}

class PartCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/parts_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void Write(const std::string& identity) const {
    PartCache cache(directory_, identity);
    ASSERT_TRUE(cache.BeginWriting().ok());
    cache.Append({1, 2}, "part of rank 0");
    cache.Append({3, 4}, "");
    cache.Commit();
  }

  std::string directory_;
};

TEST_F(PartCacheTest, GivesBackPartsOfTheSameRunOnly) {
  Write("all");
  const PartCache same(directory_, "all");
  EXPECT_EQ(same.Find({1, 2}), "part of rank 0");
  EXPECT_EQ(same.Find({3, 4}), "");
  EXPECT_FALSE(same.Find({1, 3}));
  EXPECT_FALSE(PartCache(directory_, "other").Has({1, 2}));
}

TEST_F(PartCacheTest, DamageIsComputedAgain) {
  Write("all");
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    std::string bytes = *ReadFile(entry.path().string());
    bytes[bytes.find("rank 0")] = 'R';
    Result<AtomicFile> file = AtomicFile::Create(entry.path().string());
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write(bytes.data(), bytes.size()).ok());
    ASSERT_TRUE(file->Commit().ok());
  }
  const PartCache cache(directory_, "all");
  EXPECT_FALSE(cache.Find({1, 2}));
  EXPECT_EQ(cache.Find({3, 4}), "");
}

TEST_F(PartCacheTest, WorksWithoutAPlaceToWrite) {
  PartCache cache("", "all");
  EXPECT_TRUE(cache.BeginWriting().ok());
  cache.Append({1, 2}, "x");
  cache.Commit();
  EXPECT_FALSE(cache.Find({1, 2}));
}

}  // namespace
}  // namespace steplens::cluster
