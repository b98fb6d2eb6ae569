#include "base/gzip.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/testing/gzip_text.h"
#include "base/testing/scratch_folder.h"

namespace steplens {
namespace {

std::string RandomText(std::mt19937& random, size_t size) {
  std::string text;
  while (text.size() < size) text += std::to_string(random() % 100000) + ", ";
  return text;
}

TEST(GzipText, AnyPlaceIsReadInAnyOrder) {
  std::mt19937 random(1);
  const std::string first = RandomText(random, 3000000);
  const std::string second = RandomText(random, 2000000);
  const std::string text = first + second;
  const ScratchFolder folder;
  GzipText packed(folder.Write("text.gz", Gzip(first) + Gzip(second)),
                  4096);  // so close that states have to be thinned out
  for (int round = 0; round < 300; ++round) {
    const size_t offset = random() % (text.size() + 100);
    const size_t size = random() % 1000;
    const Result<std::string> found = packed.Read(offset, size);
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(*found, offset < text.size() ? text.substr(offset, size) : "") << offset;
  }
}

TEST(GzipText, DamageIsAnErrorForWhatLiesBehindItOnly) {
  std::mt19937 random(2);
  const std::string text = RandomText(random, 2000000);
  const std::string bytes = Gzip(text);
  const ScratchFolder folder;
  GzipText packed(folder.Write("text.gz", bytes.substr(0, bytes.size() / 2)), 4096);
  EXPECT_FALSE(packed.Read(text.size() - 10, 5).ok());
  const Result<std::string> found = packed.Read(1000, 50);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, text.substr(1000, 50));
}

TEST(GzipText, AFileThatIsGoneIsAnError) {
  GzipText packed("/nowhere/trace.json.gz");
  EXPECT_FALSE(packed.Read(0, 5).ok());
  EXPECT_FALSE(IsGzipFile("/nowhere/trace.json.gz"));
}

}  // namespace
}  // namespace steplens
