#include "collect/record_encoder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "collect/test_capture.h"

namespace steplens::collect {
namespace {

class Encoder : public testing::Test {
 protected:
  Encoder()
      : encoder_((mkdir((folder_ / "FRAMEWORK").c_str(), 0750), folder_ / "FRAMEWORK"), strings_,
                 100) {}

  void Mark(RingMarkKind kind, uint64_t id, uint64_t time, uint64_t thread,
            std::string_view message = "", std::string_view domain = "") {
    MarkRecord record = {};
    record.head = RecordHead::Of(kRingMark, sizeof(record), strings_.Intern(message));
    record.time = time;
    record.id = id;
    record.domain = strings_.Intern(domain);
    record.kind = kind;
    encoder_.Add(&record.head, &thread);
  }

  std::vector<Framed<format::Mark>> Marks() {
    encoder_.Flush();
    return ReadMarks(folder_.path());
  }

  ScratchFolder folder_;
  StringTable strings_{1 << 20};
  RecordEncoder encoder_;
};

TEST_F(Encoder, ARangeKeepsBothThreads) {
  Mark(kMarkStart, 1, 200, 11, "copy", "data");
  Mark(kMarkEnd, 1, 300, 12);
  const auto marks = Marks();
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].fixed.id, 1u);
  EXPECT_EQ(marks[0].fixed.start, 200);
  EXPECT_EQ(marks[0].fixed.end, 300);
  EXPECT_EQ(marks[0].fixed.start_thread, 11u);
  EXPECT_EQ(marks[0].fixed.end_thread, 12u);
  EXPECT_EQ(marks[0].fixed.kind, format::kMarkRange);
  EXPECT_EQ(marks[0].fields.at(format::kMarkMessage), "copy");
  EXPECT_EQ(marks[0].fields.at(format::kMarkDomain), "data");
}

TEST_F(Encoder, AnEndThatIsSeenBeforeItsStartStillEndsIt) {
  Mark(kMarkEnd, 4, 300, 12);
  encoder_.EndOfPass(0);
  Mark(kMarkStart, 4, 200, 11, "late");
  ASSERT_EQ(Marks().size(), 1u);
}

TEST_F(Encoder, AnEndWithoutStartIsForgotten) {
  Mark(kMarkEnd, 4, 300, 12);
  for (int pass = 0; pass < 4; ++pass) encoder_.EndOfPass(0);
  Mark(kMarkStart, 4, 400, 11, "new");
  EXPECT_TRUE(Marks().empty());
  encoder_.Finish(900);
  const auto marks = Marks();
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].fixed.kind, format::kMarkOpenRange);
  EXPECT_EQ(marks[0].fixed.end, 900);
}

TEST_F(Encoder, AnEndInAnotherDomainEndsNothing) {
  Mark(kMarkStart, 1, 200, 11, "m", "a");
  Mark(kMarkEndInDomain, 1, 250, 11, "", "b");
  EXPECT_TRUE(Marks().empty());
  Mark(kMarkEndInDomain, 1, 300, 11, "", "a");
  ASSERT_EQ(Marks().size(), 1u);
}

TEST_F(Encoder, WhatEndedBeforeTheCaptureIsLeftOut) {
  uint64_t thread = 1;
  RangeRecord range = {RecordHead::Of(kRingRange, sizeof(RangeRecord), strings_.Intern("old")), 10,
                       99};
  encoder_.Add(&range.head, &thread);
  range.end = 100;
  encoder_.Add(&range.head, &thread);
  encoder_.Flush();
  EXPECT_EQ(ReadOps(folder_.path()).size(), 1u);
  EXPECT_EQ(encoder_.records(), 1u);
}

TEST_F(Encoder, ASeriesIsNamedOnceBeforeItsSamples) {
  uint64_t thread = 1;
  double value = 0;
  for (const char* name : {"loss", "rate", "loss"}) {
    CounterRecord record = {
        RecordHead::Of(kRingCounter, sizeof(CounterRecord), strings_.Intern(name)), 200, ++value};
    encoder_.Add(&record.head, &thread);
  }
  encoder_.Flush();
  const std::vector<std::pair<std::string, double>> expected = {
      {"loss", 1}, {"rate", 2}, {"loss", 3}};
  EXPECT_EQ(ReadCounters(folder_.path()), expected);
}

// While it lives an open file of this process is on a disk without room: the kernel refuses what is
// written to it as it would there.
class FullDisk {
 public:
  explicit FullDisk(const std::string& path) {
    const std::string real = std::filesystem::canonical(path).string();
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      if (std::filesystem::read_symlink(entry.path(), ignored).string() != real) continue;
      fd_ = std::stoi(entry.path().filename().string());
    }
    file_ = dup(fd_);
    const int full = open("/dev/full", O_RDWR);
    dup2(full, fd_);
    close(full);
  }
  ~FullDisk() {
    dup2(file_, fd_);
    close(file_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  bool is_full() const { return fd_ >= 0 && file_ >= 0; }

 private:
  int fd_ = -1;
  int file_ = -1;
};

TEST_F(Encoder, AFullDiskIsCountedAndNothingElseIsLost) {
  uint64_t thread = 1;
  RangeRecord range = {RecordHead::Of(kRingRange, sizeof(RangeRecord), 0), 200, 300};
  const auto add = [&](int ranges) {
    for (int i = 0; i < ranges; ++i) encoder_.Add(&range.head, &thread);
  };
  const std::string path = folder_ / "FRAMEWORK/torch.op_range";
  add(2);
  encoder_.Flush();
  const std::string before = ReadWhole(path);
  {
    const FullDisk full(path);
    ASSERT_TRUE(full.is_full());
    add(3);
    Mark(kMarkNow, 1, 200, 1, "kept");
    EXPECT_EQ(Marks().size(), 1u);
  }
  EXPECT_EQ(encoder_.lost(), 3u);
  EXPECT_EQ(encoder_.records(), 3u);
  EXPECT_EQ(encoder_.error(), ENOSPC);
  EXPECT_EQ(ReadWhole(path), before);
  add(1);  // there is room again
  encoder_.Flush();
  EXPECT_EQ(encoder_.lost(), 3u);
  EXPECT_EQ(encoder_.records(), 4u);
  EXPECT_EQ(ReadWhole(path), before + before.substr(0, before.size() / 2));
}

TEST_F(Encoder, AFileThatCannotBeMadeIsCountedAndNothingElseIsLost) {
  ASSERT_EQ(mkdir((folder_ / "FRAMEWORK/torch.op_range").c_str(), 0700), 0);
  uint64_t thread = 1;
  RangeRecord range = {RecordHead::Of(kRingRange, sizeof(RangeRecord), 0), 200, 300};
  for (int i = 0; i < 3; ++i) encoder_.Add(&range.head, &thread);
  Mark(kMarkNow, 1, 200, 1, "kept");
  EXPECT_EQ(Marks().size(), 1u);
  EXPECT_EQ(encoder_.lost(), 3u);
  EXPECT_EQ(encoder_.records(), 1u);
  EXPECT_EQ(encoder_.error(), EISDIR);
}

TEST(AppendFile, ABatchThatDoesNotFitLeavesTheEarlierOnesAndTheNextIsTried) {
  const ScratchFolder folder;
  const std::string path = folder / "file";
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {8, 8};
    setrlimit(RLIMIT_FSIZE, &limit);  // the write of the second batch stops in its middle
    AppendFile file(path);
    for (const std::vector<uint8_t>& batch :
         {std::vector<uint8_t>{1, 2, 3}, std::vector<uint8_t>(10, 9), std::vector<uint8_t>{4}}) {
      file.buffer() = batch;
      file.CountRecords(batch.size());
      file.Flush();
    }
    const bool ok = file.records() == 4 && file.lost() == 10 && file.error() == EFBIG;
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ReadWhole(path), "\x01\x02\x03\x04");
  struct stat mode;
  ASSERT_EQ(stat(path.c_str(), &mode), 0);
  EXPECT_EQ(mode.st_mode & 07777, 0640u);
}

TEST(ReplaceFile, ReplacesAtOnceAndSaysWhyNot) {
  const ScratchFolder folder;
  EXPECT_EQ(ReplaceFile(folder / "a", "one"), 0);
  EXPECT_EQ(ReplaceFile(folder / "a", "two"), 0);
  EXPECT_EQ(ReadWhole(folder / "a"), "two");
  EXPECT_EQ(ReplaceFile(folder / "not/there", "x"), ENOENT);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.tmp"));
}

}  // namespace
}  // namespace steplens::collect
