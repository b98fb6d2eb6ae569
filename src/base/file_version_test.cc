#include "base/file_version.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/testing/scratch_folder.h"

namespace steplens {
namespace {

namespace fs = std::filesystem;

class FileVersionTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    return folder_.Write(name, text);
  }
  static void KeepDate(const std::string& path) {
    const timespec times[2] = {{1000, 0}, {1000, 0}};
    ::utimensat(AT_FDCWD, path.c_str(), times, 0);
  }

  ScratchFolder folder_;
};

TEST_F(FileVersionTest, IsTheSameWhileNobodyTouchesTheFile) {
  const std::string path = Write("a", "one");
  EXPECT_EQ(FileVersion(path), FileVersion(path));
  EXPECT_NE(FileVersion(path), "");
  EXPECT_EQ(FileVersion(path + ".absent"), "");
}

TEST_F(FileVersionTest, ChangesWhenOneOfEqualSizeAndDateTakesThePlace) {
  const std::string path = Write("a", "one");
  KeepDate(path);
  const std::string before = FileVersion(path);
  const std::string other = Write("b", "two");
  KeepDate(other);
  fs::rename(other, path);
  EXPECT_NE(FileVersion(path), before);
}

TEST_F(FileVersionTest, ChangesWhenItIsWrittenInPlaceAndDatedBack) {
  const std::string path = Write("a", "one");
  KeepDate(path);
  const std::string before = FileVersion(path);
  // The clock of file systems moves in steps of some milliseconds.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  Write("a", "two");
  KeepDate(path);
  EXPECT_NE(FileVersion(path), before);
}

}  // namespace
}  // namespace steplens
