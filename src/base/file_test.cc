#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "base/gzip.h"
#include "base/testing/gzip_text.h"
#include "base/testing/scratch_folder.h"

namespace steplens {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_ / name; }
  std::string Write(const std::string& name, std::string_view bytes) const {
    return folder_.Write(name, bytes);
  }

  ScratchFolder folder_;
};

struct Outcome {
  std::string text;
  Status status;
};

Outcome ReadToEnd(ByteSource& source, size_t block_bytes) {
  Outcome out;
  std::string block(block_bytes, '\0');
  while (true) {
    auto got = source.Read(block.data(), block.size());
    if (!got.ok()) {
      out.status = std::move(got).error();
      return out;
    }
    if (*got == 0) return out;
    out.text.append(block.data(), *got);
  }
}

Outcome Unpack(std::string_view packed, size_t block_bytes = 4096) {
  const auto source = MakeGzipSource(MakeMemorySource(packed), "trace.json.gz");
  return ReadToEnd(*source, block_bytes);
}

TEST_F(FileTest, ReadsWholeFilesAndParts) {
  const std::string path = Write("a.txt", "0123456789");
  EXPECT_EQ(*ReadFile(path), "0123456789");
  EXPECT_EQ(*ReadFileRange(path, 3, 4), "3456");
  EXPECT_EQ(*ReadFileRange(path, 8, 10), "89");
  EXPECT_EQ(*ReadFileRange(path, 20, 10), "");
  EXPECT_EQ(*ReadFile(Write("empty", "")), "");
}

TEST_F(FileTest, SaysWhatCannotBeRead) {
  const auto missing = ReadFile(Path("missing"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr(Path("missing")));
  EXPECT_EQ(ReadFile(folder_.path()).error().code, ErrorCode::kCorruptData);
  EXPECT_EQ(OpenByteSource(Path("missing")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(StatFile(Path("missing")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(MappedFile::Open(Path("missing")).error().code, ErrorCode::kNotFound);
}

TEST_F(FileTest, StampChangesWithTheContent) {
  const std::string path = Write("a", "one");
  const FileStamp before = *StatFile(path);
  EXPECT_EQ(before.size_bytes, 3);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(5));
  EXPECT_EQ(StatFile(path)->mtime_ns - before.mtime_ns, 5000000000);
}

TEST_F(FileTest, MapsAFile) {
  auto mapped = MappedFile::Open(Write("a", "bytes"));
  ASSERT_TRUE(mapped.ok());
  MappedFile moved = *std::move(mapped);
  ASSERT_EQ(moved.bytes().size(), 5);
  EXPECT_EQ(static_cast<char>(moved.bytes()[4]), 's');
  EXPECT_TRUE(MappedFile::Open(Write("empty", ""))->bytes().empty());
}

TEST_F(FileTest, AtomicFileAppearsOnlyWhenCommitted) {
  const std::string path = Path("out.csv");
  {
    auto file = AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("half", 4).ok());
    EXPECT_FALSE(fs::exists(path));
    EXPECT_TRUE(fs::is_empty(folder_.path())) << "a process that is killed now leaves something";
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  auto file = AtomicFile::Create(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Write("whole", 5).ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(*ReadFile(path), "whole");
}

TEST_F(FileTest, AtomicFileReplacesTheOldOne) {
  const std::string path = Write("out.csv", "old and longer");
  auto file = AtomicFile::Create(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Write("new", 3).ok());
  EXPECT_EQ(*ReadFile(path), "old and longer");
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(*ReadFile(path), "new");
  EXPECT_FALSE(AtomicFile::Create(Path("no/such/folder/x")).ok());
}

TEST_F(FileTest, ByteSourceChoosesByContentNotByName) {
  auto plain = OpenByteSource(Write("named.gz", "plain text"));
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(ReadToEnd(**plain, 3).text, "plain text");
  auto packed = OpenByteSource(Write("named.json", Gzip("packed text")));
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(ReadToEnd(**packed, 3).text, "packed text");
  EXPECT_EQ((*packed)->file_position(), fs::file_size(Path("named.json")));
}

TEST(GzipSource, JoinsMembersAndIgnoresPadding) {
  EXPECT_EQ(Unpack(Gzip("one ") + Gzip("two")).text, "one two");
  const Outcome padded = Unpack(Gzip("text") + std::string(100, '\0'));
  EXPECT_EQ(padded.text, "text");
  EXPECT_TRUE(padded.status.ok());
}

TEST(GzipSource, GivesTheSameTextInAnyPieces) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += static_cast<char>('a' + (int64_t{i} * i >> 3) % 26);
  const std::string packed = Gzip(text);
  for (const size_t block_bytes : {size_t{1000}, size_t{65536}, size_t{1} << 20}) {
    const Outcome outcome = Unpack(packed, block_bytes);
    EXPECT_TRUE(outcome.status.ok());
    EXPECT_EQ(outcome.text, text);
  }
  EXPECT_EQ(Unpack(Gzip("tiny"), 1).text, "tiny");
}

TEST(GzipSource, CutAnywhereGivesAPrefixThenAnError) {
  const std::string text = "a text to pack, a text to pack, a text to pack";
  const std::string packed = Gzip(text);
  for (size_t size = 0; size < packed.size(); ++size) {
    const Outcome outcome = Unpack(std::string_view(packed).substr(0, size));
    ASSERT_TRUE(text.starts_with(outcome.text)) << size;
    ASSERT_FALSE(outcome.status.ok()) << size;
    EXPECT_EQ(outcome.status.error().code, ErrorCode::kCorruptData);
  }
}

TEST(GzipSource, NamesTheDamagedFile) {
  std::string packed = Gzip("a text to pack");
  packed[packed.size() - 6] ^= 0x55;  // the checksum
  const Outcome outcome = Unpack(packed);
  ASSERT_FALSE(outcome.status.ok());
  EXPECT_THAT(outcome.status.error().message,
              HasSubstr("trace.json.gz: the gzip data is damaged or cut off"));
}

TEST_F(FileTest, WhatIsNoFileIsRefusedAndNotWaitedFor) {
  fs::create_directory(Path("folder"));
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(ReadFile(Path("folder")).error().message, HasSubstr("is a directory, a file was"));
  EXPECT_THAT(ReadFile(Path("pipe")).error().message, HasSubstr("is a pipe, a file was expected"));
  EXPECT_THAT(OpenByteSource(Path("pipe")).error().message, HasSubstr("is a pipe"));
  EXPECT_THAT(ReadFile("/dev/null").error().message, HasSubstr("is a device or socket"));
}

TEST_F(FileTest, LargeFilesAreNotReadWhole) {
  const std::string path = Write("a.json", "0123456789");
  EXPECT_EQ(*ReadFile(path, 10), "0123456789");
  const Result<std::string> refused = ReadFile(path, 9);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("has 10 bytes"));
}

TEST_F(FileTest, WhatAKilledProcessHasLeftIsRemoved) {
  Write("a.csv", "old");
  char host[256] = "";
  ::gethostname(host, sizeof(host) - 1);
  const std::string of_here = std::string("a.csv.tmp-") + host + "-";
  Write(of_here + "999999999-0", "half");  // no process has this number
  Write(of_here + std::to_string(::getpid()) + "-77", "mine");
  Write("a.csv.tmp-elsewhere-999999999-0", "theirs");  // whether it lives is known there
  Result<AtomicFile> file = AtomicFile::Create(Path("a.csv"));
  ASSERT_TRUE(file.ok() && file->Write("new", 3).ok() && file->CommitDurably().ok());
  EXPECT_EQ(folder_.Read("a.csv"), "new");
  EXPECT_FALSE(folder_.Has(of_here + "999999999-0"));
  EXPECT_TRUE(folder_.Has(of_here + std::to_string(::getpid()) + "-77"));
  EXPECT_TRUE(folder_.Has("a.csv.tmp-elsewhere-999999999-0"));
  EXPECT_EQ(folder_.FileCount(), 3u);
}

}  // namespace
}  // namespace steplens
