#include "base/readability.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/file.h"
#include "base/testing/scratch_folder.h"

namespace steplens {
namespace {

// What a child finds: who may read is one answer for a process, and does not grow again.
int InChild(const std::function<int()>& question) {
  const pid_t child = ::fork();
  if (child == 0) {
    ForgetInputs();
    ::_exit(question());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Readability : public testing::Test {
 protected:
  void SetUp() override {
    ::chmod(folder_.path().c_str(), 0755);
    ::mkdir((folder_ / "in").c_str(), 0755);
    folder_.Write("in/a", "text");
    ::chmod((folder_ / "in").c_str(), 0755);
    ::chmod((folder_ / "in/a").c_str(), 0644);
  }
  // The bits for the group and others, as a number from 0 to 077.
  int ReadersAfter(const std::string& path) const {
    return InChild([&] {
      NoteInput(path);
      return static_cast<int>(ReadersOfInputs() & 077);
    });
  }

  ScratchFolder folder_;
};

TEST_F(Readability, IsThatOfTheFile) {
  EXPECT_EQ(ReadersAfter(folder_ / "in/a"), 044);
  ::chmod((folder_ / "in/a").c_str(), 0640);
  EXPECT_EQ(ReadersAfter(folder_ / "in/a"), 040);
  ::chmod((folder_ / "in/a").c_str(), 0600);
  EXPECT_EQ(ReadersAfter(folder_ / "in/a"), 0);
}

TEST_F(Readability, IsThatOfTheFoldersAbove) {
  ::chmod((folder_ / "in").c_str(), 0750);
  EXPECT_EQ(ReadersAfter(folder_ / "in/a"), 040);
  ::chmod((folder_ / "in").c_str(), 0700);
  EXPECT_EQ(ReadersAfter(folder_ / "in/a"), 0);
}

TEST_F(Readability, OfAnotherGroupIsThatOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  ::chmod((folder_ / "in/a").c_str(), 0640);
  ASSERT_EQ(::chown((folder_ / "in/a").c_str(), 0, 65534), 0);
  EXPECT_EQ(ReadersAfter(folder_ / "in/a"), 0) << "our group is not the file's";
}

TEST_F(Readability, NarrowsResultsThatAreOpenAlready) {
  ::chmod((folder_ / "in/a").c_str(), 0600);
  const int mode = InChild([&] {
    ::umask(0);
    Result<AtomicFile> out = AtomicFile::Create(folder_ / "out");
    NoteInput(folder_ / "in/a");
    if (!out.ok() || !out->Commit().ok()) return 1;
    struct stat info{};
    ::stat((folder_ / "out").c_str(), &info);
    return static_cast<int>(info.st_mode & 077) + 100;
  });
  EXPECT_EQ(mode, 100);
}

TEST_F(Readability, LeavesTheUmaskItsSay) {
  const int mode = InChild([&] {
    ::umask(027);
    Result<AtomicFile> out = AtomicFile::Create(folder_ / "out");
    if (!out.ok() || !out->Commit().ok()) return 1;
    struct stat info{};
    ::stat((folder_ / "out").c_str(), &info);
    return static_cast<int>(info.st_mode & 077) + 100;
  });
  EXPECT_EQ(mode, 100 + 040);
}

}  // namespace
}  // namespace steplens
