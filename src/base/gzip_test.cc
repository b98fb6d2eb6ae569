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

// Bytes that come out of a packed text under these limits, and the message that ends them.
std::pair<size_t, std::string> UnpackUnder(const UnpackLimits& limits, const std::string& packed) {
  SetUnpackLimits(limits);
  const auto source = MakeGzipSource(MakeMemorySource(packed), "bomb.gz");
  SetUnpackLimits({});
  std::string block(1000, '\0');
  size_t total = 0;
  while (true) {
    const Result<size_t> got = source->Read(block.data(), block.size());
    if (!got.ok()) return {total, got.error().message};
    if (*got == 0) return {total, ""};
    total += *got;
  }
}

TEST(UnpackLimits, EndATextThatGrowsTooMuch) {
  const std::string packed = Gzip(std::string(1'000'000, ' '));  // about a thousandth
  const UnpackLimits by_ratio{.free_bytes = 10'000, .max_ratio = 5, .max_bytes = 1 << 30};
  const auto [total, message] = UnpackUnder(by_ratio, packed);
  EXPECT_EQ(total, 11'000u) << "the block that went beyond what is free is still given";
  EXPECT_NE(message.find("bomb.gz"), message.npos);
  EXPECT_NE(message.find("--max-unpacked"), message.npos);
  const UnpackLimits by_total{.free_bytes = 1 << 30, .max_ratio = 1, .max_bytes = 500'000};
  EXPECT_EQ(UnpackUnder(by_total, packed).first, 501'000u);
}

TEST(UnpackLimits, LeaveTextsAsTracesAreAlone) {
  std::mt19937 random(2);
  const std::string text = RandomText(random, 100'000);  // packs to about a half
  const UnpackLimits limits{.free_bytes = 1000, .max_ratio = 10, .max_bytes = 1 << 30};
  EXPECT_EQ(UnpackUnder(limits, Gzip(text)), std::pair(text.size(), std::string()));
  EXPECT_EQ(UnpackUnder({}, Gzip(std::string(1'000'000, ' '))).first, 1'000'000u);
}

}  // namespace
}  // namespace steplens
