#include "base/private_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testing/scratch_folder.h"

namespace steplens {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

// The message of an error; empty if there is none.
template <typename Outcome>
std::string Why(const Outcome& outcome) {
  return outcome.ok() ? "" : outcome.error().message;
}

TEST(PrivateFolder, IsMadeForItsUserAloneWithThoseAbove) {
  const ScratchFolder scratch;
  EXPECT_EQ(Why(MakePrivateFolder(scratch / "a/b/")), "");
  EXPECT_EQ(ModeOf(scratch / "a"), 0700u);
  EXPECT_EQ(ModeOf(scratch / "a/b"), 0700u);
  EXPECT_TRUE(IsPrivateFolder(scratch / "a/b"));
}

TEST(PrivateFolder, ThatOthersMayWriteToIsRefused) {
  const ScratchFolder scratch;
  ::mkdir((scratch / "a").c_str(), 0700);
  ::chmod((scratch / "a").c_str(), 0770);
  EXPECT_EQ(Why(MakePrivateFolder(scratch / "a")),
            scratch / "a" + ": other users may write to this folder; it is not used");
  EXPECT_FALSE(IsPrivateFolder(scratch / "a"));
  ::chmod((scratch / "a").c_str(), 0755);
  EXPECT_EQ(Why(MakePrivateFolder(scratch / "a")), "");
  EXPECT_EQ(ModeOf(scratch / "a"), 0755u) << "as the user has it";
  EXPECT_EQ(Why(MakeOwnFolder(scratch / "a")), "");
  EXPECT_EQ(ModeOf(scratch / "a"), 0700u);
}

TEST(PrivateFolder, OfSomebodyElseIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  const ScratchFolder scratch;
  ::mkdir((scratch / "a").c_str(), 0700);
  ASSERT_EQ(::chown((scratch / "a").c_str(), 65534, 65534), 0);
  EXPECT_EQ(Why(MakeOwnFolder(scratch / "a")),
            scratch / "a" + ": the folder belongs to another user; it is not used");
  EXPECT_FALSE(IsPrivateFolder(scratch / "a"));
}

TEST(PrivateFolder, AFileInItsPlaceIsNoFolder) {
  const ScratchFolder scratch;
  scratch.Write("a", "");
  EXPECT_NE(Why(MakePrivateFolder(scratch / "a")), "");
  EXPECT_NE(Why(MakePrivateFolder(scratch / "a/b")), "");
  EXPECT_NE(Why(MakePrivateFolder("/proc/nowhere")), "");
}

TEST(ReadOwnFile, TakesFilesOfThisUserOnly) {
  const ScratchFolder scratch;
  scratch.Write("a", "text");
  EXPECT_EQ(*ReadOwnFile(scratch / "a", 4), "text");
  EXPECT_NE(Why(ReadOwnFile(scratch / "a", 3)).find("more than 3 bytes"), std::string::npos);
  ASSERT_EQ(::symlink((scratch / "a").c_str(), (scratch / "link").c_str()), 0);
  EXPECT_NE(Why(ReadOwnFile(scratch / "link", 4)).find("is a link"), std::string::npos);
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  EXPECT_NE(Why(ReadOwnFile(scratch / "pipe", 4)).find("is not a file"), std::string::npos);
  EXPECT_EQ(ReadOwnFile(scratch / "none", 4).error().code, ErrorCode::kNotFound);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown((scratch / "a").c_str(), 65534, 65534), 0);
  EXPECT_NE(Why(ReadOwnFile(scratch / "a", 4)).find("another user"), std::string::npos);
}

}  // namespace
}  // namespace steplens
