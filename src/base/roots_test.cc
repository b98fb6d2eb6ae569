#include "base/roots.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/testing/scratch_folder.h"

namespace steplens {
namespace {

namespace fs = std::filesystem;

//   given/  inside -> folder/   beside -> ../other   up -> /   folder/file   folder/out ->
//   ../../other/file other/  file
class RootsTest : public testing::Test {
 protected:
  RootsTest() {
    const fs::path top = scratch_.path();
    fs::create_directories(top / "given" / "folder");
    fs::create_directories(top / "other");
    for (const char* file : {"given/folder/file", "other/file"}) std::ofstream(top / file) << "x";
    fs::create_symlink("folder", top / "given" / "inside");
    fs::create_symlink("../other", top / "given" / "beside");
    fs::create_symlink("/", top / "given" / "up");
    fs::create_symlink("../../other/file", top / "given" / "folder" / "out");
    fs::create_symlink("given", top / "alias");
  }
  std::string At(const char* path) const { return (fs::path(scratch_.path()) / path).string(); }

  ScratchFolder scratch_;
};

TEST_F(RootsTest, LinksInsideMustNotLeaveAndTheRootMayBeALink) {
  EXPECT_FALSE(LeavesRoots(At("given/beside"))) << "no root yet";
  AddRoot(At("alias/"));
  for (const char* inside : {"alias", "alias/", "alias/folder/file", "alias/inside/file"})
    EXPECT_FALSE(LeavesRoots(At(inside))) << inside;
  for (const char* outside : {"alias/beside", "alias/beside/file", "alias/up", "alias/up/etc",
                              "alias/folder/out", "alias/inside/out"})
    EXPECT_TRUE(LeavesRoots(At(outside))) << outside;
  EXPECT_FALSE(LeavesRoots(At("other/file"))) << "not below a root as written";
  EXPECT_FALSE(LeavesRoots(At("alias/nothing")));
}

TEST_F(RootsTest, LinksMayLeadToAnotherRoot) {
  AddRoot(At("given"));
  AddRootUnlessBelow(At("given/beside"));
  EXPECT_TRUE(LeavesRoots(At("given/beside/file")));
  AddRoot(At("other"));
  EXPECT_FALSE(LeavesRoots(At("given/beside/file")));
}

TEST_F(RootsTest, WhatLeavesIsNotOpened) {
  AddRoot(At("given"));
  EXPECT_TRUE(ReadFile(At("given/folder/file")).ok());
  const Result<std::string> outside = ReadFile(At("given/folder/out"));
  ASSERT_FALSE(outside.ok());
  EXPECT_EQ(
      outside.error().message,
      At("given/folder/out") + ": a link that leaves the given folder; --follow-links follows it");
}

}  // namespace
}  // namespace steplens
