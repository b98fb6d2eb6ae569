#include "cluster/part_file.h"

#include <gtest/gtest.h>

namespace steplens::cluster {
namespace {

std::string WriteParts(const char* name, const PartQuestion& question,
                       const std::vector<int64_t>& ranks) {
  const std::string path = testing::TempDir() + "/" + name;
  Result<PartFileWriter> writer = PartFileWriter::Create(path, question);
  EXPECT_TRUE(writer.ok());
  for (const int64_t rank : ranks)
    EXPECT_TRUE(writer->Add(rank, "folder", "part" + std::to_string(rank)).ok());
  EXPECT_TRUE(writer->Commit().ok());
  return path;
}

const PartQuestion kQuestion{"1", "all", false, 3, {{"top_num", "5"}}};

TEST(PartFile, FilesBecomeOneInTheOrderOfRanks) {
  const std::string a = WriteParts("a.part", kQuestion, {4, 1});
  const std::string b = WriteParts("b.part", kQuestion, {0, 4});
  std::vector<std::string> notes;
  const Result<PartFile> parts = ReadPartFiles({a, b}, notes);
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->question, kQuestion);
  ASSERT_EQ(parts->ranks.size(), 3u);
  EXPECT_EQ(parts->ranks[0].part, "part0");
  EXPECT_EQ(parts->ranks[2].rank, 4);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "1 part is left out: their ranks are already present");
}

TEST(PartFile, RefusesOtherQuestionsAndOtherFiles) {
  const std::string a = WriteParts("c.part", kQuestion, {0});
  PartQuestion other = kQuestion;
  other.modes = "hccl_sum";
  const std::string b = WriteParts("d.part", other, {1});
  std::vector<std::string> notes;
  const Result<PartFile> mixed = ReadPartFiles({a, b}, notes);
  ASSERT_FALSE(mixed.ok());
  EXPECT_NE(mixed.error().message.find("different modes"), std::string::npos);
  EXPECT_FALSE(PartFile::Read("/proc/self/stat").ok());
}

TEST(PartFile, DamageIsSaidAtEveryLength) {
  const std::string path = WriteParts("e.part", kQuestion, {0, 1});
  const Result<std::string> whole = ReadFile(path);
  ASSERT_TRUE(whole.ok());
  size_t readable = 0;
  for (size_t size = 0; size < whole->size(); ++size) {
    Result<AtomicFile> cut = AtomicFile::Create(path);
    ASSERT_TRUE(cut.ok());
    ASSERT_TRUE(cut->Write(whole->data(), size).ok());
    ASSERT_TRUE(cut->Commit().ok());
    readable += PartFile::Read(path).ok() ? 1 : 0;
  }
  EXPECT_EQ(readable, 2u);  // cut between two records: with no rank, and with the first
}

}  // namespace
}  // namespace steplens::cluster
