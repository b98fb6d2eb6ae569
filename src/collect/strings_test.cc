#include "collect/strings.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace steplens::collect {
namespace {

TEST(StringTable, TheSameTextHasTheSameId) {
  StringTable table(1 << 20);
  const uint32_t a = table.Intern("a");
  EXPECT_NE(a, 0u);
  EXPECT_EQ(table.Intern("a"), a);
  EXPECT_NE(table.Intern("b"), a);
  EXPECT_EQ(table.View(a), "a");
}

TEST(StringTable, EmptyIsZeroAndUnknownIdsAreEmpty) {
  StringTable table(1 << 20);
  EXPECT_EQ(table.Intern(""), 0u);
  EXPECT_EQ(table.View(0), "");
  EXPECT_EQ(table.View(4000), "");
  EXPECT_EQ(table.View(0xFFFFFFFF), "");
}

TEST(StringTable, KeepsAnyBytes) {
  StringTable table(1 << 20);
  const std::string bytes("\0\xFF\n\x80", 4);
  EXPECT_EQ(table.View(table.Intern(bytes)), bytes);
}

TEST(StringTable, CutsLongTextsBetweenCharacters) {
  StringTable table(1 << 22);
  EXPECT_EQ(table.View(table.Intern(std::string(1 << 20, 'x'))).size(), kMaxTextBytes);
  const std::string two_byte_characters = "x" + [] {
    std::string text;
    for (int i = 0; i < 40'000; ++i) text += "\xC3\xA9";
    return text;
  }();
  EXPECT_EQ(table.View(table.Intern(two_byte_characters)).size(), kMaxTextBytes - 1);
  EXPECT_EQ(table.View(table.Intern(std::string(1 << 20, '\x80'))).size(), kMaxTextBytes);
}

TEST(StringTable, StopsGrowingAtItsBoundAndCounts) {
  StringTable table(10'000);
  uint32_t last = 0;
  for (int i = 0; i < 1000; ++i) last = table.Intern("text " + std::to_string(i));
  EXPECT_GT(table.left_out(), 0u);
  EXPECT_EQ(table.View(last), "(left out: too many different texts)");
  EXPECT_EQ(table.View(table.Intern("text 0")), "text 0") << "what is there stays";
}

TEST(StringTable, ThreadsAgreeOnIds) {
  StringTable table(1 << 24);
  constexpr int kTexts = 3000;
  std::vector<std::vector<uint32_t>> ids(4);
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&] {
      for (int i = 0; i < kTexts; ++i) mine.push_back(table.Intern("text " + std::to_string(i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : ids) EXPECT_EQ(other, ids[0]);
  for (int i = 0; i < kTexts; ++i) {
    EXPECT_EQ(table.View(ids[0][static_cast<size_t>(i)]), "text " + std::to_string(i));
  }
}

}  // namespace
}  // namespace steplens::collect
