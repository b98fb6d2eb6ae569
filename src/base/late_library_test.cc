#include "base/late_library.h"

#include <gtest/gtest.h>

namespace steplens {
namespace {

constexpr const char* kZlib = "libz.so.1";

TEST(LoadLate, FindsTheFunctionsOfALibrary) {
  const char* const names[] = {"zlibVersion", "crc32"};
  void* functions[2] = {};
  const LateLibrary library{kZlib, names, functions};
  ASSERT_TRUE(LoadLate(library).ok());
  const auto crc32 =
      reinterpret_cast<unsigned long (*)(unsigned long, const char*, unsigned)>(functions[1]);
  EXPECT_EQ(crc32(0, "123456789", 9), 0xCBF43926u);
}

TEST(LoadLate, LoadsOnlyOnce) {
  const char* const names[] = {"crc32"};
  void* functions[1] = {functions};  // as if it were loaded
  EXPECT_TRUE(LoadLate({"libthere_is_none.so.1", names, functions}).ok());
  EXPECT_EQ(functions[0], functions);
}

TEST(LoadLate, SaysWhichLibraryIsMissing) {
  const char* const names[] = {"crc32"};
  void* functions[1] = {};
  const Status status = LoadLate({"libthere_is_none.so.1", names, functions});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(status.error().message.find("libthere_is_none.so.1 cannot be loaded ("), 0u);
}

TEST(LoadLate, SaysWhichFunctionIsMissing) {
  const char* const names[] = {"crc32", "there_is_no_such_function"};
  void* functions[2] = {};
  const Status status = LoadLate({kZlib, names, functions});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "libz.so.1 is of another version than this program was built with: it has no "
            "there_is_no_such_function");
}

TEST(LoadLate, HasNothingToDoForALinkedLibrary) { EXPECT_TRUE(LoadLate({"", {}, nullptr}).ok()); }

}  // namespace
}  // namespace steplens
